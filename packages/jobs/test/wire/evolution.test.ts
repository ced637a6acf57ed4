// The rules of docs/wire-protocol.md §12: frames of a later version, read by this one.
import { MessageMalformedError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { HAS_FIELDS, readOptionalFields, writeOptionalFields } from '#src/bytes/optional-fields.js';
import type { FedItems, FeedState } from '#src/protocol/feed-messages.js';
import type { StreamItems } from '#src/protocol/stream-messages.js';
import { readClient, readSubmitHead, readToClient } from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { WireReader } from '#src/wire/wire-reader.js';
import { readToWorker, readWorker } from '#src/wire/worker/worker-codec.js';
import { GOLDEN_FRAMES } from './golden-frames.js';

const evolution = suite('evolution of job messages');

const LATER = [
  { number: 99, bytes: Buffer.from('later') },
  { number: 300, bytes: Buffer.alloc(200, 7) },
];

function reader(write: (out: ByteWriter) => void): WireReader {
  const out = new ByteWriter();
  write(out);
  return new WireReader(out.take());
}

evolution('optional fields are read by number', () => {
  const fields = readOptionalFields(reader((out) => writeOptionalFields(out, LATER)));
  assert.equal([...fields.keys()], [99, 300]);
  assert.is(Buffer.from(fields.get(99) ?? []).toString(), 'later');
  assert.is(fields.get(300)?.length, 200);
});

evolution('a field that is longer than the list of fields is malformed', () => {
  const from = reader((out) => {
    out.int(3);
    out.int(1);
    out.payload(Buffer.alloc(5));
  });
  assert.throws(
    () => readOptionalFields(from),
    (error: Error) => error instanceof MessageMalformedError,
  );
});

evolution('unknown optional fields of a submit are skipped, with the item behind them intact', () => {
  const write = (out: ByteWriter): void => {
    out.int(0);
    for (const seq of [1, 2]) {
      out.int(seq);
      out.int(7);
      out.byte(HAS_FIELDS | 2);
      out.text('key');
      writeOptionalFields(out, LATER);
      out.payload(`payload ${seq}`);
    }
  };
  const message = readClient(JobFrameType.Submit, reader(write));
  assert.equal(
    message?.kind === 'submit' && message.items.map(({ seq, key, payload }) => [seq, key, payload]),
    [
      [1, 'key', 'payload 1'],
      [2, 'key', 'payload 2'],
    ],
  );
  assert.equal(readSubmitHead(reader(write))?.length, 'payload 1'.length);
});

evolution('a trace context beside later fields is read; one that W3C calls invalid is dropped', () => {
  const traceOf = (...texts: readonly [number, string][]): unknown => {
    const fields = [...LATER, ...texts.map(([number, text]) => ({ number, bytes: Buffer.from(text) }))];
    const message = readClient(
      JobFrameType.Submit,
      reader((out) => {
        out.int(0);
        out.int(1);
        out.int(7);
        out.byte(HAS_FIELDS);
        writeOptionalFields(out, fields);
        out.payload('"in"');
      }),
    );
    if (message?.kind !== 'submit') return assert.unreachable();
    assert.is(message.items[0]?.payload, '"in"');
    return message.items[0]?.trace;
  };
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  assert.equal(traceOf([1, traceparent], [2, 'v=1']), { traceparent, tracestate: 'v=1' });
  assert.equal(traceOf([1, traceparent]), { traceparent });
  assert.equal(traceOf([2, 'v=1']), undefined);
  assert.equal(traceOf([1, traceparent], [2, 'v'.repeat(513)]), { traceparent });
  assert.equal(traceOf([1, traceparent], [2, 'a\nb']), { traceparent });
  for (const invalid of [
    traceparent.toUpperCase(),
    traceparent.slice(1),
    `${traceparent}0`,
    traceparent.replace('00-', 'ff-'),
    traceparent.replace('0af7651916cd43dd8448eb211c80319c', '0'.repeat(32)),
    traceparent.replace('b7ad6b7169203331', '0'.repeat(16)),
  ])
    assert.is(traceOf([1, invalid]), undefined, invalid);
});

evolution('unknown optional fields of assigns, reports, outcomes and receipts are skipped', () => {
  const assigned = readToWorker(
    JobFrameType.Assign,
    reader((out) => {
      out.byte(HAS_FIELDS);
      out.int(1);
      out.int(1);
      out.text('exec');
      out.text('client');
      out.int(5);
      out.int(6);
      writeOptionalFields(out, LATER);
      out.payload('"in"');
    }),
  );
  assert.is(assigned?.kind === 'assign' && assigned.items[0]?.payload, '"in"');
  const report = readWorker(
    JobFrameType.Report,
    reader((out) => {
      out.int(1);
      out.int(2);
      out.double(0.5);
      out.int(3);
      out.int(4);
      out.int(5);
      writeOptionalFields(out, LATER);
      out.byte(0);
      out.byte(HAS_FIELDS | 1);
      out.int(8);
      out.int(1);
      out.payload('"out"');
      writeOptionalFields(out, LATER);
      out.byte(4);
      out.byte(0);
      out.int(9);
      out.int(1);
    }),
  );
  assert.equal(report?.kind === 'report' && report.ends, [
    { outcome: 'ok', job: 8, attempt: 1, result: '"out"' },
    { outcome: 'released', job: 9, attempt: 1 },
  ]);
  const outcomes = readToClient(
    JobFrameType.Outcomes,
    reader((out) => {
      for (const job of [1, 2]) {
        out.int(job);
        out.byte(0);
        out.byte(HAS_FIELDS | 1);
        out.payload('1');
        writeOptionalFields(out, LATER);
      }
    }),
  );
  assert.equal(outcomes?.kind === 'outcomes' && outcomes.items.map(({ job }) => job), [1, 2]);
  const receipts = readToClient(
    JobFrameType.Receipts,
    reader((out) => {
      for (const seq of [1, 2]) {
        out.int(seq);
        out.byte(HAS_FIELDS);
        out.int(5);
        out.int(1);
        out.int(seq);
        writeOptionalFields(out, LATER);
      }
    }),
  );
  assert.equal(receipts?.kind === 'receipts' && receipts.items.map(({ jobs }) => jobs[0]), [1, 2]);
});

evolution('unknown words read as their nearest known meaning', () => {
  const outcomes = readToClient(
    JobFrameType.Outcomes,
    reader((out) => {
      out.int(1);
      out.byte(77);
      out.byte(2);
      out.text('expired');
    }),
  );
  assert.equal(outcomes?.kind === 'outcomes' && outcomes.items.map(({ state, reason }) => [state, reason]), [
    ['dead', 'expired'],
  ]);
  const ends = readWorker(
    JobFrameType.Ends,
    reader((out) => {
      out.byte(77);
      out.byte(1);
      out.int(1);
      out.int(1);
      out.payload('1');
      out.byte(4);
      out.byte(0);
      out.int(2);
      out.int(1);
    }),
  );
  assert.equal(ends?.kind === 'ends' && ends.ends.map(({ outcome }) => outcome), ['failed', 'released']);
  const aborts = readToWorker(
    JobFrameType.Abort,
    reader((out) => {
      out.int(1);
      out.int(1);
      out.byte(77);
      out.text('preempted');
    }),
  );
  assert.equal(aborts?.kind === 'abort' && aborts.items[0]?.reason, 'fenced');
  const refused = readToClient(
    JobFrameType.SessionRefused,
    reader((out) => {
      out.byte(77);
      out.text('not the leader');
      writeOptionalFields(out, LATER);
    }),
  );
  assert.equal(refused, { kind: 'refused', code: 'ERR_SESSION_REFUSED', problem: 'not the leader' });
});

/** The message of a frame whose byte at `at` is a word that no version has. */
function withOtherWord(name: string, at: number): unknown {
  const frame = GOLDEN_FRAMES.find((one) => one.name === name) ?? assert.unreachable(name);
  const { type, hex, read } = frame as (typeof GOLDEN_FRAMES)[number];
  const body = Buffer.from(hex, 'hex');
  body[at] = 77;
  return read(type, new WireReader(body));
}

evolution('unknown words of streams, feeds and welcomes read as their nearest known meaning', () => {
  const stream = withOtherWord('StreamItems of refused readers and a response', 4) as StreamItems;
  assert.equal(
    stream.items.map((item) => (item.kind === 'refused' ? item.status : item.kind)),
    ['FAILED_PRECONDITION', 'RESOURCE_EXHAUSTED', 'end'],
  );
  const ended = withOtherWord('StreamItems of refused readers and a response', 14) as StreamItems;
  assert.equal(
    ended.items.map((item) => (item.kind === 'end' ? item.streaming : item.kind)),
    ['refused', 'refused', 'response'],
  );
  const states = withOtherWord('FeedStates', 1) as { readonly items: readonly FeedState[] };
  assert.equal(
    states.items.map(({ phase }) => phase),
    ['waiting', 'ended'],
  );
  const fed = withOtherWord('FedItems with their end', 10) as { readonly items: readonly FedItems[] };
  assert.equal(
    fed.items.map(({ end }) => end),
    ['abandoned'],
  );
  const welcome = withOtherWord('SessionWelcome with a level of durability', 30) as { level?: string };
  assert.is(welcome.level, undefined);
});

evolution('an item of a stream of a later kind is skipped by its length, with those around it intact', () => {
  const read = readToClient(
    JobFrameType.StreamItems,
    reader((out) => {
      out.int(1);
      writeOptionalFields(out, []);
      out.byte(16);
      out.byte(0);
      out.payload('anything');
      out.byte(1);
      out.byte(0);
      out.int(2);
    }),
  );
  assert.equal(read?.kind === 'stream_items' && read.items, [{ kind: 'reset', attempt: 2 }]);
});

evolution('a code of a refused submit or feed that no version has is read with its text', () => {
  const why = ['ERR_OF_LATER', 'not now'] as const;
  const receipts = readToClient(
    JobFrameType.Receipts,
    reader((out) => {
      out.int(1);
      out.byte(2);
      out.int(5);
      out.int(0);
      for (const one of why) out.text(one);
      out.int(30);
    }),
  );
  assert.equal(receipts?.kind === 'receipts' && receipts.items[0]?.refusal, {
    code: why[0],
    problem: why[1],
    retryAfterMs: 30,
  });
});

evolution.run();
