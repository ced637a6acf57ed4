import type { Suite } from '../runner/suite.js';
import { appendInBatches, appendOne } from './wal/append.js';
import { largePayload } from './wal/large-payload.js';
import { outstandingAppends } from './wal/outstanding-appends.js';
import { openWithSnapshot, replay } from './wal/replay.js';

export const suite: Suite = {
  name: 'wal',
  title:
    'write-ahead log: durable appends, replay, opening, compared with plain write + fdatasync and read + CRC loops',
  systems: ['troupe', 'floor', 'prewritten', 'dsync', 'promises', 'callbacks'],
  cases: [
    appendOne(1_000),
    appendInBatches(1, 2_000),
    appendInBatches(10, 2_000),
    appendInBatches(100, 1_500),
    appendInBatches(1_000, 400),
    outstandingAppends(600_000),
    largePayload(64),
    replay(1_000_000),
    openWithSnapshot(1_000_000),
  ],
};
