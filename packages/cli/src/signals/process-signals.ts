const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;
type EndSignal = (typeof SIGNALS)[number];

/** SIGHUP means: read keys and certificates again. */
export function onReload(reload: () => void): void {
  process.on('SIGHUP', reload);
}

/** The exit code that a shell expects of a process ended by a signal. */
export function signalExitCode(signal: EndSignal): number {
  return 128 + NUMBERS[signal];
}

/** Resolves at the first signal to end. A second one ends at once, as a shell expects it to. */
export function untilSignal(): Promise<EndSignal> {
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
