// A log on a simulated disk with a manual clock: a test decides when calls complete and time passes.

import { type Log, openLog, type WalEvent, type WalOptions } from '@troupe/wal';
import { FaultyStorage, type FaultyStorageOptions, ManualWalHost } from '@troupe/wal/testing';

export interface HarnessOptions extends FaultyStorageOptions {
  readonly seed?: number;
}

export class LogHarness {
  readonly storage: FaultyStorage;
  readonly host: ManualWalHost;
  readonly events: WalEvent[] = [];

  constructor(options: HarnessOptions = {}) {
    this.storage = new FaultyStorage(options);
    this.host = new ManualWalHost(options.seed ?? 1);
  }

  /** Runs all that can happen without time passing. */
  settle(): void {
    for (;;) {
      const completed = this.storage.run();
      const ran = this.host.runDeferred();
      if ((completed === 0 && !ran) || this.storage.isCrashed) return;
    }
  }

  /** Lets time pass and runs all that happens meanwhile. */
  advance(ms: number): void {
    this.settle();
    const until = this.host.now() + ms;
    while (this.host.advance(until - this.host.now())) this.settle();
  }

  /** Begins to open the log. */
  start(options: WalOptions, done: (error: Error | null, log: Log) => void): void {
    const { storage, host } = this;
    const onEvent = (event: WalEvent): void => void this.events.push(event);
    openLog({ storage, host, onEvent, ...SMALL, ...options }, done);
  }

  /** The log, the error, or undefined after a simulated crash. */
  tryOpen(options: WalOptions = {}): Log | Error | undefined {
    let opened: Log | Error | undefined;
    this.start(options, (error, log) => {
      opened = error ?? log;
    });
    this.settle();
    return opened;
  }

  open(options: WalOptions = {}): Log {
    const opened = this.tryOpen(options);
    if (opened instanceof Error) throw opened;
    if (opened === undefined) throw new Error('the log neither opened nor failed');
    return opened;
  }

  /** Runs an operation with a callback to its end. */
  wait<T>(start: (done: (error: Error | null, value: T) => void) => void): T {
    let result: { error: Error | null; value: T } | undefined;
    start((error, value) => {
      result = { error, value };
    });
    this.settle();
    if (result === undefined) throw new Error('the operation did not end');
    if (result.error !== null) throw result.error;
    return result.value;
  }

  replay(
    log: Log,
    range: { from?: number; to?: number } = {},
  ): { lsn: number; text: string; type: number }[] {
    const seen: { lsn: number; text: string; type: number }[] = [];
    this.wait<void>((done) =>
      log.replay(range, (lsn, payload, type) => seen.push({ lsn, text: payload.toString(), type }), done),
    );
    return seen;
  }
}

/** Small enough that a few records fill a segment. */
export const SMALL: WalOptions = {
  segmentBytes: 16_384,
  firstSegmentBytes: 12_288,
  batchBytesMax: 8_192,
  inlineBytesMax: 2_048,
  freeBytesSoft: 0,
};

export function textOf(index: number): string {
  return `record ${index} ${'x'.repeat((index * 37) % 300)}`;
}
