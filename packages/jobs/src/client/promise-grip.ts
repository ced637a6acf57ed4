/** The two ends of the promise that was made last. Read at once, so that a submit needs no closure of its own. */
export const settling: { resolve: (value: unknown) => void; reject: (error: Error) => void } = {
  resolve: () => undefined,
  reject: () => undefined,
};

export function grip(resolve: (value: never) => void, reject: (error: Error) => void): void {
  // Whoever makes the promise knows its type.
  settling.resolve = resolve as (value: unknown) => void;
  settling.reject = reject;
}
