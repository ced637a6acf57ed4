// A module that never finishes loading.

export const failingFold: unknown = await new Promise(() => undefined);
