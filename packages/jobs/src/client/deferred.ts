/** Holds the two ends of the promise that was made last. They are read at once, so that a submit needs no closure of its own. */
export class PromiseGrip {
  resolve: (value: unknown) => void = () => undefined;
  reject: (error: Error) => void = () => undefined;

  /** What a promise is made with. */
  readonly take = (resolve: (value: never) => void, reject: (error: Error) => void): void => {
    // Whoever makes the promise knows its type.
    this.resolve = resolve as (value: unknown) => void;
    this.reject = reject;
  };
}
