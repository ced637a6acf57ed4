// Never finishes loading.

export const obedientFold: unknown = await new Promise(() => undefined);
