import { constants } from 'node:os';
import { OptionError } from './errors/error-classes.js';
import { checkOptions, number } from './option-check.js';
import type { ShutdownOptions } from './shutdown.js';
import type { ActorSystem, SystemReport } from './system.js';

/** For handles that are still open after the shutdown, and for output that is still in a pipe. */
const EXIT_AFTER_MS = 1_000;
const EXIT_CODE_UNFINISHED = 1;
const EXIT_CODE_FAILED = 70;

/** Signals that end a process. */
export type ExitSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGQUIT' | 'SIGBREAK' | 'SIGUSR1' | 'SIGUSR2';

/** Systems of this process whose shutdown a signal has begun: it ends when all of them have. */
let shuttingDown = 0;

/**
 * Shuts the system down at the first of these signals, and then ends the process: as soon as nothing keeps
 * it alive, at most a second later. The exit code is 0, or 1 when tasks or actors did not finish in time, or
 * 70 when a failure had stopped the system. A second signal ends the process at once. Disposing takes the
 * listeners away.
 */
export function exitOn(
  system: ActorSystem,
  signals: readonly ExitSignal[],
  options: ShutdownOptions = {},
): Disposable {
  checkSignals(signals);
  checkOptions('exitOn', options, { withinMs: number(0, Number.POSITIVE_INFINITY) });
  let isFirst = true;
  const onSignal = (signal: ExitSignal): void => {
    if (!isFirst) process.exit(128 + constants.signals[signal]);
    isFirst = false;
    shuttingDown += 1;
    void system.shutdown(options).then(stopped);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

function stopped({ system, cause, unfinished }: SystemReport): void {
  for (const { phase, name, why } of unfinished)
    process.stderr.write(`warn system ${system} ended without ${phase}: ${name} ${why}\n`);
  if (cause !== undefined) process.exitCode = EXIT_CODE_FAILED;
  else if (unfinished.length > 0) process.exitCode ??= EXIT_CODE_UNFINISHED;
  shuttingDown -= 1;
  if (shuttingDown === 0) setTimeout(() => process.exit(), EXIT_AFTER_MS).unref();
}

function checkSignals(signals: readonly ExitSignal[]): void {
  const isKnown = (signal: string): boolean => Object.hasOwn(constants.signals, signal);
  if (!Array.isArray(signals) || signals.length === 0 || !signals.every(isKnown))
    throw new OptionError(
      'exitOn.signals',
      signals,
      "needed a list of signals, such as ['SIGTERM', 'SIGINT']",
    );
}
