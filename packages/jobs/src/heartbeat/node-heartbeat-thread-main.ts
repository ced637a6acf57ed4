// The program of the heartbeat thread, which reports for workers whose event loop is blocked. It holds
// counters and, rarely, a connection.

import { parentPort, workerData } from 'node:worker_threads';
import { nodeHost } from '@troupe/core';
import { BlockedLoopReporter, type WatchedWorker } from './blocked-loop-reporter.js';

export interface HeartbeatThreadMessage {
  readonly registration: number;
  /** Undefined ends the watch. */
  readonly watched: WatchedWorker | undefined;
}

const ticks = new Int32Array(workerData as SharedArrayBuffer);
const reporters = new Map<number, BlockedLoopReporter>();

parentPort?.on('message', ({ registration, watched }: HeartbeatThreadMessage) => {
  reporters.get(registration)?.close();
  if (watched === undefined) reporters.delete(registration);
  else reporters.set(registration, new BlockedLoopReporter(watched, ticks, nodeHost));
});
// All modules are loaded: from now on the thread needs nothing of the main loop.
parentPort?.postMessage('ready');
