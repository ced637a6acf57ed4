import type { WalHost } from './wal-host.js';

/** Continues once the event loop has polled: long work is done in slices. */
export function yieldToLoop(host: WalHost, run: () => void): void {
  if (host.later === undefined) host.setTimer(0, run, true);
  else host.later(run);
}
