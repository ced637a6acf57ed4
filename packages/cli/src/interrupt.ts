import type { Storage } from '@troupe/wal';
import { CliError } from './cli-error.js';
import { signalExitCode, untilSignal } from './signals.js';

/** Work that leaves something behind: a signal ends the wait for it, so that whoever waits can tidy up. */
export function unlessInterrupted<T>(what: string, work: Promise<T>): Promise<T> {
  return Promise.race([work, interrupted(what)]);
}

/** Folders that can be read until a signal comes. Whoever reads ends with an error, and writes nothing behind it. */
export function readingUntilSignal(what: string): (storage: Storage) => Storage {
  let over: Error | undefined;
  interrupted(what).catch((error: Error) => {
    over = error;
  });
  return (storage) => ({
    ...storage,
    read(file, into, position, done) {
      if (over === undefined) storage.read(file, into, position, done);
      else process.nextTick(done, over, 0);
    },
  });
}

async function interrupted(what: string): Promise<never> {
  const name = await untilSignal();
  throw new CliError('ERR_CLI_INTERRUPTED', signalExitCode(name), `${what}: ended by ${name}`);
}
