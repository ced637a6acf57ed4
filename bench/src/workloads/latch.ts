/** A promise and the function that resolves it: how a workload says that it is done. */
export class Latch<T = void> {
  readonly promise: Promise<T>;
  open!: (value: T) => void;

  constructor() {
    this.promise = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}
