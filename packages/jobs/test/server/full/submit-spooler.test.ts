import type { IncomingBody } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { PayloadStore } from '#src/job/payload/payload-store.js';
import { STORED_BYTES_MIN, StoredPayload } from '#src/job/payload/stored-payload.js';
import { SubmitSpooler } from '#src/server/full/submit-spooler.js';
import { encodeClient, SUBMIT_HEAD_BYTES_MAX } from '#src/wire/client/client-codec.js';

const receivers = suite('large submit receiver');

/** The body of a Submit frame with one item. */
function submitBody(payload: Uint8Array, key = ''): Buffer {
  const item = { seq: 7, ref: 3, payload, key, delayMs: 5, wantsOutcome: true };
  let body: Buffer = Buffer.alloc(0);
  encodeClient({ kind: 'submit', low: 2, items: [item] }, new ByteWriter(), (_type, out) => {
    body = out.take();
  });
  return body;
}

type Reader = Pick<Parameters<IncomingBody['read']>[0], 'onChunk' | 'onEnd'>;

interface Received {
  readonly events: string[];
  readonly stored: Buffer;
  readonly whole: Buffer | undefined;
  readonly consumed: number;
}

/** Feeds the body in chunks of a size; a store with `isFull` takes no payload, `failsAfter` some writes of one. */
function receive(
  body: Buffer,
  chunkBytes: number,
  { isFull = false, failsAfter = Number.POSITIVE_INFINITY } = {},
): Received {
  const events: string[] = [];
  const chunks: Buffer[] = [];
  let whole: Buffer | undefined;
  let consumed = 0;
  const store: PayloadStore = {
    write: () =>
      isFull
        ? undefined
        : {
            write: (chunk, done) => {
              chunks.push(Buffer.from(chunk));
              done(chunks.length > failsAfter ? new Error('ENOSPC') : null);
            },
            finish: (done) => done(null, new StoredPayload('00', Buffer.concat(chunks).length)),
            abandon: () => void events.push('abandoned'),
          },
    open: () => {
      throw new Error('not used here');
    },
    release: () => events.push('released'),
  };
  let reader: Reader | undefined;
  // Only the part that the receiver uses.
  const incoming = {
    length: body.length,
    consumed: (bytes: number) => {
      consumed += bytes;
    },
    stop: () => events.push('stopped'),
    read: (given: Reader) => {
      reader = given;
      for (let at = 0; at < body.length; at += chunkBytes) reader.onChunk(body.subarray(at, at + chunkBytes));
      reader.onEnd();
    },
  } as unknown as IncomingBody;
  new SubmitSpooler(incoming, store, {
    stored: ({ low, item }, payload, bytes) =>
      events.push(`stored ${low} ${item.seq} ${item.ref} ${item.key} ${payload.length} ${bytes}`),
    whole: (bytes) => {
      whole = bytes;
      events.push('whole');
    },
    gather: (received) => {
      whole = received;
      reader = {
        onChunk: (chunk) => {
          whole = Buffer.concat([whole ?? Buffer.alloc(0), chunk]);
          consumed += chunk.length;
        },
        onEnd: () => void events.push('whole'),
      };
    },
    refused: ({ item }) => events.push(`refused ${item.seq}`),
    malformed: () => events.push('malformed'),
    broken: () => events.push('broken'),
  });
  return { events, stored: Buffer.concat(chunks), whole, consumed };
}

const LARGE = Buffer.alloc(STORED_BYTES_MIN + 10, 'x');

receivers('a large payload is stored, wherever the chunks are cut', () => {
  const body = submitBody(LARGE, 'key');
  for (const chunkBytes of [1_000, SUBMIT_HEAD_BYTES_MAX - 1, SUBMIT_HEAD_BYTES_MAX, 65_536, body.length]) {
    const { events, stored, consumed } = receive(body, chunkBytes);
    assert.equal(events, [`stored 2 7 3 key ${LARGE.length} ${body.length}`]);
    assert.ok(stored.equals(LARGE));
    assert.is(consumed, body.length);
  }
});

receivers('a body that is shorter than a head, or has a small payload, is collected whole', () => {
  for (const bytes of [1, 100, SUBMIT_HEAD_BYTES_MAX, STORED_BYTES_MIN - 1]) {
    const body = submitBody(Buffer.alloc(bytes, 'x'));
    const { events, whole, consumed } = receive(body, 1_000);
    assert.equal(events, ['whole']);
    assert.ok(whole?.equals(body));
    assert.is(consumed, body.length);
  }
});

receivers('a key that is longer than a head leaves the judgement to the codec', () => {
  const body = submitBody(LARGE, 'k'.repeat(SUBMIT_HEAD_BYTES_MAX));
  assert.ok(receive(body, SUBMIT_HEAD_BYTES_MAX).whole?.equals(body));
});

receivers('a store that takes no payload refuses the submit and still consumes its body', () => {
  const body = submitBody(LARGE);
  const { events, consumed } = receive(body, 65_536, { isFull: true });
  assert.equal([events, consumed], [['refused 7'], body.length]);
});

// The connection goes on: the other submits of the client do not wait for a new one.
receivers('a write that fails refuses the submit once its body is consumed, and ends nothing else', () => {
  const body = submitBody(LARGE);
  for (const failsAfter of [0, 1, 5]) {
    const { events, consumed } = receive(body, 65_536, { failsAfter });
    assert.equal([events, consumed], [['abandoned', 'refused 7'], body.length]);
  }
});

receivers('a malformed head is reported before the body is complete', () => {
  const { events } = receive(Buffer.alloc(SUBMIT_HEAD_BYTES_MAX, 0xff), SUBMIT_HEAD_BYTES_MAX);
  assert.is(events[0], 'malformed');
});

receivers.run();
