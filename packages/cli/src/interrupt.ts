import { CliError } from './cli-error.js';
import { signalExitCode, untilSignal } from './signals.js';

/** Work that leaves something behind: a signal ends the wait for it, so that whoever waits can tidy up. */
export function unlessInterrupted<T>(what: string, work: Promise<T>): Promise<T> {
  const signal = untilSignal().then((name) => {
    throw new CliError('ERR_CLI_INTERRUPTED', signalExitCode(name), `${what}: ended by ${name}`);
  });
  return Promise.race([work, signal]);
}
