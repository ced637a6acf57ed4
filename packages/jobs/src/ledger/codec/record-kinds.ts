import type { LedgerRecord } from '../ledger-record.js';
import { LAST_KIND } from './record-frame.js';

/**
 * The kind of each record, its first byte. A new one has a length: 32 to 63 if a reader must know it (and the
 * minor of LEDGER_FORMAT goes up), 64 to 122 if a reader may skip it. A number is never used twice.
 */
const KINDS: Readonly<Record<LedgerRecord['type'], number>> = {
  genesis: 1,
  policy: 2,
  producer: 3,
  enqueue: 4,
  enqueue_all: 5,
  assign: 6,
  ack: 7,
  retry: 8,
  timeout_requeue: 9,
  worker_down_requeue: 10,
  release: 11,
  dlq: 12,
  cancel: 13,
  redrive: 14,
  purge: 15,
  tick: 16,
  limits: 17,
  policy_drop: 18,
  producer_drop: 19,
  feed: 32,
  feed_end: 33,
  feed_drop: 34,
  state: 35,
  queue_limits: 36,
  queue_mode: 37,
  expire: 38,
  schedule_set: 42,
  schedule_drop: 43,
  schedule_pause: 44,
  schedule_fire: 45,
  redrive_edited: 46,
  worker_quiet: 47,
  spill_file: 64,
  spill_drop: 65,
  audit: 70,
  key_release: 71,
};

export const KIND_OF: ReadonlyMap<string, number> = new Map(Object.entries(KINDS));
export const TYPES: readonly (LedgerRecord['type'] | undefined)[] = typesByKind();

function typesByKind(): (LedgerRecord['type'] | undefined)[] {
  const types = new Array<LedgerRecord['type'] | undefined>(LAST_KIND + 1).fill(undefined);
  for (const [type, kind] of KIND_OF) types[kind] = type as LedgerRecord['type']; // the keys of KINDS
  return types;
}
