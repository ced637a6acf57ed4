import type { WalHost } from '../host/wal-host.js';
import type { Storage } from '../storage/storage.js';

/** The same storage, which spends at most `share` of the time on reads. */
export function throttleReads(storage: Storage, host: WalHost, share: number): Storage {
  return new Proxy(storage, {
    get: (target, method: keyof Storage) =>
      method === 'read' ? throttledRead(target, host, share) : target[method].bind(target),
  });
}

function throttledRead(storage: Storage, host: WalHost, share: number): Storage['read'] {
  return (file, into, position, done) => {
    const startedAt = host.now();
    storage.read(file, into, position, (error, count) => {
      const restMs = (host.now() - startedAt) * (1 / share - 1);
      host.setTimer(restMs, () => done(error, count), true);
    });
  };
}
