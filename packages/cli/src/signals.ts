const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
type Ending = (typeof SIGNALS)[number];

/** A hang-up asks for a fresh look at the files, as everywhere. */
export function onReload(reload: () => void): void {
  process.on('SIGHUP', reload);
}

/** What a shell expects of a process that a signal has ended. */
export function signalExitCode(signal: Ending): number {
  return 128 + NUMBERS[signal];
}

/** Resolves at the first signal to end. A second one ends at once, as a shell expects it to. */
export function untilSignal(): Promise<Ending> {
  return new Promise((resolve) => {
    let isFirst = true;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (!isFirst) process.exit(signalExitCode(signal));
        isFirst = false;
        resolve(signal);
      });
    }
  });
}
