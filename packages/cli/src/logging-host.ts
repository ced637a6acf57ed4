import { type Host, type LogEntry, nodeHost } from '@troupe/core';

/** Node's host, with the log of the runtime going to a function. */
export function loggingHost(log: (entry: LogEntry) => void): Host {
  return { ...nodeHost, log };
}

/** For commands that print their errors themselves. */
export const silentHost: Host = loggingHost(() => undefined);
