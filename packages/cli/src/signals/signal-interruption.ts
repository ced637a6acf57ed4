import type { Storage } from '@troupe/wal';
import { CliError } from '../cli-error.js';
import { signalExitCode, untilSignal } from './process-signals.js';

/**
 * Rejects at the first signal, from this call on. Work with temporary files races it, so that the files are
 * removed even when the signal comes before the work has begun.
 */
export function interruption(what: string): Promise<never> {
  const promise = interrupted(what);
  promise.catch(() => undefined);
  return promise;
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
