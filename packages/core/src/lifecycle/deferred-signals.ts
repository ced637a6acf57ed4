import type { Signal } from './runtime-signal.js';

/**
 * Signals that wait until user code can run again, in their order. Taking one costs the same however many
 * wait.
 */
export class DeferredSignals {
  private signals: (Signal | undefined)[] = [];
  private head = 0;

  push(signal: Signal): void {
    this.signals.push(signal);
  }

  take(): Signal | undefined {
    const signal = this.signals[this.head];
    if (signal === undefined) {
      this.signals = [];
      this.head = 0;
    } else {
      this.signals[this.head] = undefined;
      this.head += 1;
    }
    return signal;
  }

  keepOnly(kept: (signal: Signal) => boolean): void {
    this.signals = this.signals.filter((signal) => signal !== undefined && kept(signal));
    this.head = 0;
  }
}
