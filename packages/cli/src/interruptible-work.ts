import type { Storage } from '@troupe/wal';
import { CliError } from './cli-error.js';
import { signalExitCode, untilSignal } from './process-signals.js';

/** Work with temporary files: a signal ends the wait for it, so that the caller can remove them. */
export function unlessInterrupted<T>(what: string, work: Promise<T>): Promise<T> {
  return Promise.race([work, interrupted(what)]);
}

/** A folder that can be read until a signal comes. After it every read fails, so the reader stops. */
export function readableUntilSignal(what: string): (storage: Storage) => Storage {
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
