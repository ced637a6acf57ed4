/** A promise that is settled from outside. */
export class Deferred {
  readonly promise: Promise<unknown>;
  resolve: (value: unknown) => void = unset;
  reject: (error: Error) => void = unset;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** Both are replaced by the constructor. */
function unset(): void {
  throw new Error('not constructed');
}
