import { type Host, type LogEntry, nodeHost } from '@troupe/core';

/** This process as a host, with the runtime's log going where the verb wants it. */
export function loggingHost(log: (entry: LogEntry) => void): Host {
  return { ...nodeHost, log };
}

/** For verbs whose errors are their own to tell. */
export const quietHost: Host = loggingHost(() => undefined);
