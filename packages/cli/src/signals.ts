const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const NUMBERS = { SIGINT: 2, SIGTERM: 15 } as const;

/** A hang-up asks for a fresh look at the files, as everywhere. */
export function onReload(reload: () => void): void {
  process.on('SIGHUP', reload);
}

/** Resolves at the first signal to end. A second one ends at once, as a shell expects it to. */
export function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isFirst = true;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (!isFirst) process.exit(128 + NUMBERS[signal]);
        isFirst = false;
        resolve(signal);
      });
    }
  });
}
