import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { ANY } from '../job/definition/any-schema.js';
import { defineJob } from '../job/definition/define-job.js';
import type { PayloadStore } from '../job/payload/payload-store.js';
import type { StoredPayload } from '../job/payload/stored-payload.js';
import { JobsError } from '../jobs-error.js';
import type { OpenJournal } from '../journal/journal.js';
import { LEDGER_FORMAT } from '../ledger/ledger-format.js';
import type { LedgerRecord } from '../ledger/ledger-record.js';
import { OpenedJournal, stateAfter } from './opened-journal.js';

/** One log that a journal under test keeps. Disposing removes it. */
export interface JournalPlace extends AsyncDisposable {
  /** Opens the log as another process would: each call is a leader of its own. */
  readonly open: () => OpenJournal;
  /**
   * The next append of a journal that is opened after this call is carried out, but its answer is lost, as
   * with a connection that breaks at that moment. Absent: such a thing cannot happen to this journal.
   */
  readonly loseNextAnswer?: (() => void) | undefined;
  /** The same with a connection that breaks before the append was carried out. */
  readonly loseNextRequest?: (() => void) | undefined;
  /** Lets an old owner be looked at without a `close`. Absent: the second opening is refused instead. */
  readonly fences: boolean;
}

/** One rule that every journal keeps. `run` rejects where it is broken. */
export interface JournalRule {
  readonly title: string;
  readonly run: () => Promise<void>;
}

type Check = (place: JournalPlace) => Promise<void>;

const AT = 1_000_000;
const { policy: POLICY } = defineJob('conformance.job', { input: ANY, output: ANY });
const BEGIN: readonly LedgerRecord[] = [
  { type: 'genesis', at: AT, tag: 'abcde' },
  { type: 'policy', at: AT, no: 1, policy: POLICY },
  { type: 'producer', at: AT, producer: 1, client: 'c', token: 't' },
];

/**
 * The rules of a journal, for any implementation: order, positions, recovery, snapshots, fencing, payloads,
 * format. Give each rule to the test runner of your choice.
 */
export function journalConformance(makePlace: () => Promise<JournalPlace>): readonly JournalRule[] {
  const rules: readonly (readonly [title: string, check: Check])[] = [
    ['entries are read again in the order of the appends, at the positions that were told', readsAgain],
    ['positions of one append are consecutive, and grow over appends', growingPositions],
    ['appends that are under way together become durable in their order', pipelined],
    ['a snapshot and the entries behind it are the whole state', snapshotAndTail],
    ['a second leader takes over, and the first can append nothing more', secondLeader],
    ['after an append that failed every later one fails', errorIsTheEnd],
    ['close hands over at once, with everything durable', handsOver],
    ['an append whose answer was lost is found or is not there, and the leader goes on or ends', lostAnswer],
    ['an append that was lost on its way is written again or fails', lostRequest],
    ['a stored payload is there as long as a job needs it', payloadLife],
    ['a log of a newer format is refused and stays as it is', newerFormat],
  ];
  return rules.map(([title, check]) => ({
    title,
    run: async () => {
      await using place = await makePlace();
      await check(place);
    },
  }));
}

function job(no: number, payload: string | StoredPayload = `"${no}"`): LedgerRecord {
  const submission = { job: no, policy: 1, dueAt: 0, key: '', payload };
  return { type: 'enqueue', at: AT + no, producer: 1, seq: no, low: no - 1, ...submission };
}

async function readsAgain(place: JournalPlace): Promise<void> {
  const first = await OpenedJournal.open(place.open());
  assert.equal(first.lastLsn, 0, 'a new log is empty');
  const entries = [BEGIN, [job(1)], [job(2), job(3)]];
  const firstLsn = await first.append(...entries);
  await first.close();
  const again = await OpenedJournal.open(place.open());
  assert.deepEqual(again.positions, [firstLsn, firstLsn + 1, firstLsn + 2]);
  assert.equal(again.state, stateAfter(...entries));
  await again.close();
}

async function growingPositions(place: JournalPlace): Promise<void> {
  const opened = await OpenedJournal.open(place.open());
  const first = await opened.append(BEGIN, [job(1)]);
  const second = await opened.append([job(2)]);
  assert.ok(first >= 1 && second >= first + 2, `${first}, then ${second}`);
  await opened.close();
}

async function pipelined(place: JournalPlace): Promise<void> {
  const opened = await OpenedJournal.open(place.open());
  const numbers = Array.from({ length: 40 }, (_, i) => i + 1);
  const all = [BEGIN, ...numbers.map((no) => [job(no)])];
  const durable: number[] = [];
  await Promise.all(all.map((entry) => opened.append(entry).then((lsn) => durable.push(lsn))));
  assert.deepEqual(
    durable,
    [...durable].sort((a, b) => a - b),
  );
  await opened.close();
  const again = await OpenedJournal.open(place.open());
  assert.equal(again.state, stateAfter(...all));
  await again.close();
}

async function snapshotAndTail(place: JournalPlace): Promise<void> {
  const opened = await OpenedJournal.open(place.open());
  const before = [BEGIN, [job(1)], [job(2)]];
  const after = [[job(3)], [{ type: 'cancel', at: AT + 9, job: 1, reason: 'x' } as const]];
  await opened.append(...before);
  await opened.snapshot();
  await opened.append(...after);
  await opened.close();
  const again = await OpenedJournal.open(place.open());
  assert.equal(again.state, stateAfter(...before, ...after));
  const next = await again.append([job(4)]);
  assert.ok(next > again.lastLsn, 'positions go on behind the snapshot');
  // A second snapshot replaces the first; the log is cut below one that is there, never ahead of it.
  await again.snapshot();
  await again.append([job(5)]);
  await again.close();
  const third = await OpenedJournal.open(place.open());
  assert.equal(third.state, stateAfter(...before, ...after, [job(4)], [job(5)]));
  await third.close();
}

async function secondLeader(place: JournalPlace): Promise<void> {
  const first = await OpenedJournal.open(place.open());
  await first.append(BEGIN, [job(1)]);
  if (!place.fences) {
    await assert.rejects(OpenedJournal.open(place.open()), 'a second opening is refused');
    return first.close();
  }
  const second = await OpenedJournal.open(place.open());
  assert.equal(second.state, stateAfter(BEGIN, [job(1)]));
  // Before the other has written anything: it has read the log to its end and knows nothing of this entry.
  const refused = await first.append([job(3)]).then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(refused instanceof JobsError && refused.code === 'ERR_JOURNAL_DEPOSED', String(refused));
  assert.equal(first.journal.isOwner(), false);
  await first.abandon();
  await second.append([job(2)]);
  await second.close();
  const third = await OpenedJournal.open(place.open());
  assert.equal(third.state, stateAfter(BEGIN, [job(1)], [job(2)]));
  await third.close();
}

async function errorIsTheEnd(place: JournalPlace): Promise<void> {
  if (!place.fences) return;
  const first = await OpenedJournal.open(place.open());
  await first.append(BEGIN);
  const second = await OpenedJournal.open(place.open());
  await second.append([job(1)]);
  const late = [first.append([job(2)]), first.append([job(3)])];
  for (const outcome of await Promise.allSettled(late)) assert.equal(outcome.status, 'rejected');
  await assert.rejects(first.append([job(4)]));
  await first.abandon();
  await second.close();
}

async function handsOver(place: JournalPlace): Promise<void> {
  const first = await OpenedJournal.open(place.open());
  const appended = first.append(BEGIN, [job(1)]);
  const closed = first.close();
  await appended;
  await closed;
  const startedAt = performance.now();
  const second = await OpenedJournal.open(place.open());
  assert.ok(performance.now() - startedAt < 5_000, 'the next leader does not wait for a lease to end');
  assert.equal(second.state, stateAfter(BEGIN, [job(1)]));
  await second.close();
}

function lostAnswer(place: JournalPlace): Promise<void> {
  return unknownOutcome(place, place.loseNextAnswer);
}

function lostRequest(place: JournalPlace): Promise<void> {
  return unknownOutcome(place, place.loseNextRequest);
}

async function unknownOutcome(place: JournalPlace, lose: (() => void) | undefined): Promise<void> {
  if (lose === undefined) return;
  const begun = await OpenedJournal.open(place.open());
  await begun.append(BEGIN);
  await begun.close();
  lose();
  const first = await OpenedJournal.open(place.open());
  const wasTold = await first.append([job(1)]).then(
    () => true,
    () => false,
  );
  await (wasTold ? first.close() : first.abandon());
  const again = await OpenedJournal.open(place.open());
  const isThere = again.state === stateAfter(BEGIN, [job(1)]);
  assert.ok(isThere || !wasTold, 'an append that was told as durable is there');
  assert.ok(isThere || again.state === stateAfter(BEGIN), 'it is there once or not at all');
  await again.close();
}

async function payloadLife(place: JournalPlace): Promise<void> {
  const first = await OpenedJournal.open(place.open());
  const { payloads } = first.journal;
  if (payloads === undefined) return first.close();
  const bytes = Buffer.alloc(3_000_000, 'payload ');
  const stored = await writePayload(payloads, bytes);
  assert.equal(stored.sha256, createHash('sha256').update(bytes).digest('hex'));
  await first.append(BEGIN, [job(1, stored)]);
  await first.snapshot();
  await first.close();
  const second = await OpenedJournal.open(place.open());
  assert.ok(bytes.equals(await readPayload(second.journal.payloads as PayloadStore, stored)));
  await second.close();
}

async function newerFormat(place: JournalPlace): Promise<void> {
  const newer = { ...LEDGER_FORMAT, minor: LEDGER_FORMAT.minor + 1, since: '9.9.9' };
  const first = await OpenedJournal.open(place.open(), newer);
  await first.append(BEGIN);
  await first.close();
  await assert.rejects(OpenedJournal.open(place.open()), /9\.9\.9/);
  const again = await OpenedJournal.open(place.open(), newer);
  assert.equal(again.state, stateAfter(BEGIN));
  await again.close();
}

async function writePayload(store: PayloadStore, bytes: Uint8Array): Promise<StoredPayload> {
  const writer = store.write();
  assert.ok(writer !== undefined, 'the store takes a payload');
  for (let at = 0; at < bytes.length; at += 65_536)
    await new Promise<void>((resolve, reject) => {
      writer.write(bytes.subarray(at, at + 65_536), (error) => (error === null ? resolve() : reject(error)));
    });
  return new Promise((resolve, reject) => {
    writer.finish((error, payload) => (error === null ? resolve(payload) : reject(error)));
  });
}

async function readPayload(store: PayloadStore, payload: StoredPayload): Promise<Buffer> {
  const source = store.open(payload);
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = await new Promise<Uint8Array | null>((resolve, reject) => {
      source.read(65_536, (error, chunk) => (error === null ? resolve(chunk) : reject(error)));
    });
    if (part === null) break;
    parts.push(new Uint8Array(part));
    source.release?.(part);
  }
  source.close();
  return Buffer.concat(parts);
}
