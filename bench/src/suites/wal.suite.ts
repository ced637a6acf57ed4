import type { Suite } from '../runner/suite.js';
import { appendInBatches, appendOne, outstanding } from './wal/append.js';
import { largePayload } from './wal/large-payload.js';
import { openWithSnapshot, replay } from './wal/replay.js';

export const suite: Suite = {
  name: 'wal',
  title:
    'write-ahead log: durable appends, replay, opening, against bare write + fdatasync and read + crc loops',
  systems: ['troupe', 'floor', 'prewritten', 'dsync', 'promises', 'callbacks'],
  cases: [
    appendOne(1_000),
    appendInBatches(1, 2_000),
    appendInBatches(10, 2_000),
    appendInBatches(100, 1_500),
    appendInBatches(1_000, 400),
    outstanding(600_000),
    largePayload(64),
    replay(1_000_000),
    openWithSnapshot(1_000_000),
  ],
};
