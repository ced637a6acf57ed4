// The thread that speaks for workers whose event loop stands still. It holds nothing but counters and, rarely, a connection.

import { parentPort, workerData } from 'node:worker_threads';
import { nodeHost } from '@troupe/core';
import { type PulseOrder, PulseWatch } from './blocked-loop-reporter.js';

/** No order: the worker is no longer to be watched. */
export interface PulseNotice {
  readonly seat: number;
  readonly order: PulseOrder | undefined;
}

const ticks = new Int32Array(workerData as SharedArrayBuffer);
const watches = new Map<number, PulseWatch>();

parentPort?.on('message', ({ seat, order }: PulseNotice) => {
  watches.get(seat)?.close();
  if (order === undefined) watches.delete(seat);
  else watches.set(seat, new PulseWatch(order, ticks, nodeHost));
});
// Everything is loaded: from now on it needs nothing of the main loop.
parentPort?.postMessage('awake');
