// Frames of protocol 1, byte for byte: peers of this version are in use as long as the number is.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { WireReader } from '#src/wire/wire-reader.js';
import { GOLDEN_FRAMES } from './golden-frames.js';
import { laterFrame } from './later-frames.js';

/** Frames without a place for optional fields: JSON, which has room for more, and lists of numbers. */
const NO_PLACE = [
  'Define',
  'Await',
  'Call',
  'Answer',
  'Acknowledged',
  'Abort',
  'Drain',
  'Heartbeat',
  'HeartbeatHello',
  'LoopBlocked',
  'Close',
  'Stale',
] as const satisfies readonly (keyof typeof JobFrameType)[];

const golden = suite('golden frames');

golden('every message is written as its golden frame', () => {
  for (const { name, type, hex, encode } of GOLDEN_FRAMES) {
    const frames: [number, string][] = [];
    encode(new ByteWriter(), (written, out) => frames.push([written, out.take().toString('hex')]));
    assert.equal(frames, [[type, hex]], name);
  }
});

golden('every golden frame is read as its message', () => {
  for (const { name, type, hex, message, read } of GOLDEN_FRAMES)
    assert.equal(read(type, new WireReader(Buffer.from(hex, 'hex'))), message, name);
});

golden(
  'the same frames of a later version, with optional fields everywhere, are read as the same messages',
  () => {
    const unchanged = new Set<number>();
    for (const { name, type, hex, message, read } of GOLDEN_FRAMES) {
      const later = laterFrame(type, Buffer.from(hex, 'hex'));
      if (Buffer.from(later).toString('hex') === hex) unchanged.add(type);
      assert.equal(read(type, new WireReader(later)), message, name);
    }
    assert.equal(
      Object.entries(JobFrameType).filter(([, type]) => unchanged.has(type)),
      NO_PLACE.map((name) => [name, JobFrameType[name]]),
    );
  },
);

golden('every frame type has a golden frame', () => {
  const types = new Set(GOLDEN_FRAMES.map(({ type }) => type));
  // An Ends frame is the end of a report that was too long for it.
  const missing = Object.entries(JobFrameType).filter(([, type]) => !types.has(type));
  assert.equal(missing, [['Ends', JobFrameType.Ends]]);
});

golden.run();
