// Never finishes loading.

export const failingFold: unknown = await new Promise(() => undefined);
