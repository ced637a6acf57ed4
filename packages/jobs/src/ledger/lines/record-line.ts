// Records as JSON text, one a line: the form of `troupe wal dump`, and of a log with `--log-format jsonl`.

import { LedgerCorruptError, LedgerVersionError } from '../../jobs-error.js';
import { isOptionalKind } from '../codec/record-frame.js';
import { KIND_OF } from '../codec/record-kinds.js';
import type { LedgerRecord, RequeueRecord, RequeueType, Submission } from '../ledger-record.js';
import {
  bytes,
  failure,
  flag,
  int,
  ints,
  type LedgerLine,
  type LineFields,
  list,
  optional,
  payload,
  payloads,
  policy,
  queueLimits,
  readFields,
  scheduleRule,
  text,
  texts,
  time,
  trace,
  usually,
  word,
  writeFields,
} from './line-field.js';

type Type = LedgerRecord['type'];
type RecordOf<T extends Type> = T extends RequeueType ? RequeueRecord : Extract<LedgerRecord, { type: T }>;

const SUBMISSION: LineFields<Submission> = {
  job: int,
  policy: int,
  dueAt: usually(time, 0),
  key: usually(text, ''),
  payload,
  trace: optional(trace),
  orderKey: optional(text),
  tags: optional(texts),
  holdsKey: optional(flag),
};
const STREAM_END = { chunks: optional(int), metadata: optional(text) };
const NUMBERED = { producer: int, seq: int, low: int };
const REQUEUE = { job: int, attempt: int, dueAt: usually(time, 0), failure, ...STREAM_END };
const QUEUE_MODE = word('open', 'paused', 'draining');
const JOBS = { jobs: ints, by: optional(text) };

/** The fields of every type of record beside `type` and `at`. The compiler names one that is missing. */
const FIELDS: { readonly [T in Type]: LineFields<Omit<RecordOf<T>, 'type' | 'at'>> } = {
  genesis: { tag: text },
  policy: { no: int, policy },
  policy_drop: { policies: ints },
  producer: { producer: int, client: text, token: text },
  producer_drop: { producers: ints },
  enqueue: { ...NUMBERED, ...SUBMISSION },
  enqueue_all: { ...NUMBERED, jobs: list(SUBMISSION) },
  assign: { job: int, attempt: int, worker: text },
  ack: { job: int, attempt: int, result: payload, ...STREAM_END },
  retry: REQUEUE,
  timeout_requeue: REQUEUE,
  worker_down_requeue: REQUEUE,
  release: REQUEUE,
  dlq: {
    job: int,
    attempt: int,
    reason: word('failed', 'final', 'timed-out', 'quarantined', 'payload-lost', 'feed-dropped'),
    failure,
    ...STREAM_END,
  },
  cancel: { job: int, reason: usually(text, ''), by: optional(text), ...STREAM_END },
  redrive: JOBS,
  purge: JOBS,
  limits: { resultsMax: int, resultsBytesMax: int, keyWindowMs: int },
  tick: {},
  feed: { job: int, feeder: text, first: int, items: payloads, final: usually(flag, false) },
  feed_end: { job: int },
  feed_drop: { job: int, below: int },
  queue_limits: { queue: text, limits: queueLimits, by: optional(text) },
  queue_mode: { queue: text, mode: QUEUE_MODE, by: optional(text) },
  expire: { job: int },
  state: { chunk: bytes },
  schedule_set: {
    name: text,
    client: text,
    policy: int,
    rule: scheduleRule,
    payload,
    wallAt: time,
    nextAt: time,
    by: optional(text),
  },
  redrive_edited: { job: int, payload, by: optional(text) },
  worker_quiet: { worker: text, quiet: flag, by: optional(text) },
  audit: { action: text, target: text, detail: usually(text, ''), by: optional(text) },
  schedule_drop: { name: text, by: optional(text) },
  schedule_pause: { name: text, by: optional(text), paused: flag, nextAt: time },
  schedule_fire: {
    name: text,
    slotAt: time,
    nextAt: time,
    wallAt: time,
    held: usually(int, 0),
    replaced: usually(int, 0),
    jobs: list(SUBMISSION),
    by: optional(text),
  },
  spill_file: { file: int },
  spill_drop: { files: ints },
  key_release: { keys: texts },
};

/** The object of a record: its type first. */
export function lineOfRecord(record: LedgerRecord): LedgerLine {
  const line: LedgerLine = { type: record.type, at: record.at };
  if (isOptionalKind(KIND_OF.get(record.type) as number)) line['optional'] = true;
  // The fields belong to the type of the record, which the compiler does not see through the table.
  writeFields(line, FIELDS[record.type] as LineFields<Omit<LedgerRecord, 'type' | 'at'>>, record);
  return line;
}

/** Undefined for an optional record of a later version. Unknown fields are skipped. */
export function recordOfLine(line: Readonly<LedgerLine>): LedgerRecord | undefined {
  const { type } = line;
  if (typeof type !== 'string') throw new LedgerCorruptError('type must be a text');
  if (!Object.hasOwn(FIELDS, type)) {
    if (line['optional'] === true) return undefined;
    throw new LedgerVersionError(
      `a record of type ${type} is not known to this version; start the version that wrote it, or a later one`,
    );
  }
  const fields: object = readFields(
    line,
    FIELDS[type as Type] as LineFields<Omit<LedgerRecord, 'type' | 'at'>>,
  );
  return { type, at: time.read(line, 'at'), ...fields } as LedgerRecord; // every field of the type is there
}

/** A JSON text that is an object. */
export function parseLine(content: string): LedgerLine {
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch (cause) {
    throw new LedgerCorruptError('a record is not JSON', { cause });
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as LedgerLine;
  throw new LedgerCorruptError('a record is not an object');
}
