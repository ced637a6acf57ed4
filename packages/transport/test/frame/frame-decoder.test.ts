import { FrameDecoder, FrameWriter } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const decoder = suite('frame decoder');

interface Seen {
  readonly type: number;
  readonly payload: string;
}

function collect(payloadMax = 1024) {
  const frames: Seen[] = [];
  const made = new FrameDecoder(
    {
      onFrame: (type, bytes, start, end) => frames.push({ type, payload: bytes.toString('hex', start, end) }),
    },
    payloadMax,
  );
  return { frames, decoder: made };
}

function stream(...frames: readonly (readonly [number, string])[]): Buffer {
  const writer = new FrameWriter();
  for (const [type, text] of frames) writer.writeFrame(type, Buffer.from(text));
  return Buffer.concat(writer.takePieces());
}

decoder('a frame is length, type, payloadLen, payload', () => {
  assert.is(stream([2, 'hi']).toString('hex'), '07000000020200000068 69'.replace(' ', ''));
});

decoder('a stream cut in three at any positions gives the same frames', () => {
  const bytes = stream([9, ''], [1, 'a'], [4, '0123456789'], [3, ''], [200, 'xyz']);
  assert.ok(bytes.length <= 64, `${bytes.length} bytes`);
  const whole = collect();
  whole.decoder.push(bytes);
  for (let i = 0; i <= bytes.length; i += 1) {
    for (let j = i; j <= bytes.length; j += 1) {
      const cut = collect();
      for (const part of [bytes.subarray(0, i), bytes.subarray(i, j), bytes.subarray(j)])
        cut.decoder.push(part);
      assert.equal(cut.frames, whole.frames);
      assert.is(cut.decoder.insideFrame, false);
    }
  }
});

decoder('a stream pushed byte by byte gives the same frames', () => {
  const bytes = stream([1, 'abc'.repeat(50)], [2, ''], [255, 'z']);
  const whole = collect();
  whole.decoder.push(bytes);
  const drops = collect();
  for (const byte of bytes) drops.decoder.push(Uint8Array.of(byte));
  assert.equal(drops.frames, whole.frames);
  assert.is(whole.frames.length, 3);
});

decoder('`insideFrame` is exact at every position', () => {
  const bytes = stream([1, 'abc'], [2, 'de']);
  const boundaries = new Set([0, 12, bytes.length]);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const { decoder: reading } = collect();
    reading.push(bytes.subarray(0, cut));
    assert.is(reading.insideFrame, !boundaries.has(cut), `cut at ${cut}`);
  }
});

decoder('after lengths that disagree nothing more is delivered', () => {
  const bytes = Buffer.concat([stream([1, 'abc']), stream([1, 'abc'])]);
  bytes.writeUInt32LE(9, 12);
  const { decoder: reading, frames } = collect();
  assert.is(reading.push(bytes), 'length-mismatch');
  assert.is(reading.push(stream([1, 'later'])), 'length-mismatch');
  assert.is(frames.length, 1);
});

decoder('a length over the maximum is refused after four bytes, before memory is reserved', () => {
  for (const length of [0xffff_ffff, 0x8000_0000, 1024 + 5 + 1]) {
    const { decoder: reading } = collect();
    const head = Buffer.alloc(4);
    head.writeUInt32LE(length);
    assert.is(reading.push(head), 'oversized', String(length));
  }
});

decoder('HTTP, TLS and SSH are refused by their first bytes', () => {
  for (const text of ['GET ', 'POST', 'SSH-', '\x16\x03\x01\x02', 'PRI ']) {
    const { decoder: reading } = collect(4096);
    assert.is(reading.push(Buffer.from(text, 'latin1')), 'oversized', text);
  }
});

decoder('an unexpected type is refused with its byte', () => {
  const { decoder: reading } = collect();
  reading.acceptsType = (type) => type === 9;
  assert.is(reading.push(stream([1, 'abc']).subarray(0, 4)), null);
  assert.is(reading.push(Uint8Array.of(1)), 'unexpected-type');
});

decoder('a declared length alone reserves at most 64 KiB', () => {
  const { decoder: reading } = collect(256 * 1024 * 1024);
  const head = Buffer.alloc(9);
  head.writeUInt32LE(200 * 1024 * 1024 + 5, 0);
  head[4] = 1;
  head.writeUInt32LE(200 * 1024 * 1024, 5);
  const before = process.memoryUsage().arrayBuffers;
  reading.push(head);
  reading.push(Buffer.alloc(10));
  assert.ok(process.memoryUsage().arrayBuffers - before < 1024 * 1024);
  assert.is(reading.declaredBytes, 200 * 1024 * 1024);
  assert.is(reading.receivedBytes, 10);
});

decoder('a large frame is assembled from many chunks unchanged', () => {
  const payload = Buffer.alloc(3 * 1024 * 1024 + 17);
  for (let i = 0; i < payload.length; i += 1) payload[i] = i * 31;
  const writer = new FrameWriter();
  writer.writeFrame(1, payload);
  const bytes = Buffer.concat(writer.takePieces());
  let got = Buffer.alloc(0);
  const reading = new FrameDecoder(
    { onFrame: (_type, view, start, end) => (got = Buffer.from(view.subarray(start, end))) },
    payload.length,
  );
  for (let at = 0; at < bytes.length; at += 65_536) reading.push(bytes.subarray(at, at + 65_536));
  assert.ok(got.equals(payload));
});

decoder('fragments of a payload join to the whole for every split', () => {
  const bytes = stream([1, 'before'], [40, 'HEAD-and-then-the-rest-of-it'], [2, 'after']);
  for (let i = 0; i <= bytes.length; i += 1) {
    for (let j = i; j <= bytes.length; j += 1) {
      const seen: string[] = [];
      let parts = '';
      const reading: FrameDecoder = new FrameDecoder(
        {
          onFrame: (type, view, start, end) => seen.push(`${type}:${view.toString('latin1', start, end)}`),
          onFragment: (view, start, end, offset, payloadLen) => {
            assert.is(offset, parts.length);
            parts += view.toString('latin1', start, end);
            if (parts.length === payloadLen) seen.push(`40:${parts}`);
          },
        },
        64,
      );
      reading.wantsFragments = (type, _view, start, end) => type === 40 && end - start >= 5;
      for (const part of [bytes.subarray(0, i), bytes.subarray(i, j), bytes.subarray(j)]) reading.push(part);
      assert.equal(seen, ['1:before', '40:HEAD-and-then-the-rest-of-it', '2:after']);
      assert.is(reading.framesDecoded, 3);
    }
  }
});

decoder('a halted decoder delivers nothing; after `resume` all frames follow in order', () => {
  const frames: number[] = [];
  const reading: FrameDecoder = new FrameDecoder(
    {
      onFrame: (type) => {
        frames.push(type);
        if (type === 2) reading.halt();
      },
    },
    64,
  );
  reading.push(stream([1, 'a'], [2, 'b'], [3, 'c']));
  reading.push(stream([4, 'd']));
  assert.equal(frames, [1, 2]);
  reading.resume();
  assert.equal(frames, [1, 2, 3, 4]);
});

decoder.run();
