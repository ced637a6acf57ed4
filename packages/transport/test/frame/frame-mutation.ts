import { SeededRandom } from '@troupe/core/testing';
import { FrameDecoder, type FrameHeader, FrameWriter, transportLimits } from '@troupe/transport';
import { BodyStreams } from '#src/body/body-streams.js';
import { Outbox } from '#src/connection/outbox.js';
import { decodeWireError, encodeWireError } from '#src/connection/wire-error.js';
import { readHeader } from '#src/frame/header-reader.js';
import { decodeHello, encodeHello } from '#src/handshake/hello.js';
import { decodeWelcome, encodeWelcome } from '#src/handshake/welcome.js';

const PAYLOAD_MAX = 64 * 1024;
const ALLOCATED_MAX = PAYLOAD_MAX + 64 * 1024;
const capacity = { payloadBytesMax: 65_536, bodyBytesMax: 1e6, windowBytes: 1e5, chunkBytesMax: 4096 };
/** An input that is slower than this each time it is tried is slow. */
const TIME_MS_MAX = 5;

export interface MutationReport {
  readonly inputs: number;
  readonly frames: number;
  readonly slowestMs: number;
}

/**
 * Runs mutated frames through all decoders of peer input, until `isOver`. Throws at an exception, at memory
 * beyond the bound and at an input that is slow.
 */
export function runMutations(seed: number, isOver: (inputs: number) => boolean): MutationReport {
  const random = new SeededRandom(seed);
  const corpusFrames = corpus();
  let inputs = 0;
  let frames = 0;
  let slowestMs = 0;
  countingAllocations((takeCount) => {
    for (; !isOver(inputs); inputs += 1) {
      const input = mutate(random, corpusFrames);
      const cut = random.between(0, input.length);
      takeCount();
      const before = performance.now();
      frames += decodeAll(input, cut);
      const firstMs = performance.now() - before;
      const bytes = takeCount();
      if (bytes > ALLOCATED_MAX) throw new Error(`${bytes} bytes for the input ${input.toString('hex')}`);
      const ms = firstMs > TIME_MS_MAX ? repeatedMs(input, cut, firstMs) : firstMs;
      if (ms > TIME_MS_MAX) throw new Error(`${ms} ms for the input ${input.toString('hex')}`);
      slowestMs = Math.max(slowestMs, ms);
    }
  });
  return { inputs, frames, slowestMs };
}

/** The machine may pause the process: only an input that is slow each time is slow. */
function repeatedMs(input: Buffer, cut: number, firstMs: number): number {
  let ms = firstMs;
  for (let again = 0; again < 5 && ms > TIME_MS_MAX; again += 1) {
    const start = performance.now();
    decodeAll(input, cut);
    ms = Math.min(ms, performance.now() - start);
  }
  return ms;
}

function corpus(): Buffer[] {
  const writer = new FrameWriter();
  const headers: readonly FrameHeader[] = [
    {},
    { msgId: 'm-1' },
    { msgId: 'a', corrId: 'b' },
    { compression: 'gzip', rawLen: 100 },
    { bodyId: 1, bodyLength: 50 },
    { bodyId: 2 },
  ];
  const frames: Buffer[] = [];
  const add = () => frames.push(Buffer.concat(writer.takePieces()));
  for (const header of headers) {
    for (const body of ['', 'x', 'payload '.repeat(8)]) {
      writer.writeMessage(64, header, Buffer.from(body));
      add();
    }
  }
  const hello = {
    versionMin: 1,
    versionMax: 1,
    methods: ['none' as const],
    nonce: Buffer.alloc(32),
    capacity,
    name: 'ann',
  };
  const welcome = {
    version: 1,
    authMethod: 'none' as const,
    connectionId: 'cc'.repeat(16),
    capacity,
    pingMs: 1,
    deadMs: 2,
    inFlightMax: 3,
    creditMax: 4,
    identityName: 'ann',
  };
  for (const [type, payload] of [
    [9, encodeHello(hello)],
    [35, encodeWelcome(welcome)],
    [36, encodeWireError('MALFORMED', { corrId: 'm', field: 'message' })],
    [37, Buffer.alloc(8)],
    [39, Buffer.alloc(6)],
    [40, Buffer.from('0100000000616263', 'hex')],
    [40, Buffer.from('01000000100300000000', 'hex')],
    [41, Buffer.from('0100000000010000', 'hex')],
    [42, Buffer.from('010000000000', 'hex')],
    [43, Buffer.from('010000000000', 'hex')],
    [4, Buffer.from('01000000', 'hex')],
  ] as const) {
    writer.writeFrame(type, payload);
    add();
  }
  return frames;
}

function mutate(random: SeededRandom, frames: readonly Buffer[]): Buffer {
  const pick = () => frames[random.between(0, frames.length - 1)] as Buffer;
  let bytes = Buffer.from(pick());
  for (let i = random.between(0, 3); i > 0; i -= 1) {
    const at = random.between(0, Math.max(bytes.length - 1, 0));
    switch (random.between(0, 7)) {
      case 0:
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random.between(0, 7));
        break;
      case 1:
        bytes[at] = random.between(0, 255);
        break;
      case 2:
        bytes = bytes.subarray(0, at);
        break;
      case 3:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          random.bytes(random.between(1, 8)),
          bytes.subarray(at),
        ]);
        break;
      case 4:
        if (bytes.length >= 4) bytes.writeUInt32LE(random.between(0, 0xffff_ffff), 0);
        break;
      case 5:
        // Both lengths agree and are wrong: the frame declares more or less than it has.
        if (bytes.length >= 9) {
          const declared = random.between(0, PAYLOAD_MAX + 10);
          bytes.writeUInt32LE(declared + 5, 0);
          bytes.writeUInt32LE(declared, 5);
        }
        break;
      case 6:
        bytes = Buffer.concat([bytes, pick()]);
        break;
      default:
        if (bytes.length > 9) bytes[9 + (at % (bytes.length - 9))] = 0xff;
    }
  }
  return bytes;
}

/** Runs one input through all decoders of peer input. Returns the number of frames. */
function decodeAll(bytes: Buffer, cut: number): number {
  let frames = 0;
  const bodies = new BodyStreams(transportLimits('public'), new Outbox(), () => undefined);
  const decoder = new FrameDecoder(
    {
      onFrame: (type, view, start, end) => {
        frames += 1;
        const payload = view.subarray(start, end);
        if (type === 9) decodeHello(payload);
        else if (type === 35) decodeWelcome(payload);
        else if (type === 36) decodeWireError(payload);
        else if (type >= 40 && type <= 43) bodies.onFrame(type, payload);
        else if (end - start >= 2) {
          const bodyAt = start + 2 + view.readUInt16LE(start);
          if (bodyAt > end) return;
          const header = readHeader(view, start + 2, bodyAt);
          if (!('errorName' in header) && header.bodyId !== undefined) bodies.accept(header, end - bodyAt);
        }
      },
      onFragment: (view, start, end, offset, payloadLen) => {
        bodies.onFragment(view.subarray(start, end), offset, payloadLen);
      },
    },
    PAYLOAD_MAX,
  );
  decoder.wantsFragments = BodyStreams.mayFragment;
  decoder.push(bytes.subarray(0, cut));
  decoder.push(bytes.subarray(cut));
  return frames;
}

/** Counts the bytes allocated through Buffer during `run`. */
function countingAllocations<T>(run: (takeCount: () => number) => T): T {
  const { allocUnsafeSlow, alloc, allocUnsafe } = Buffer;
  let bytes = 0;
  Buffer.allocUnsafeSlow = (size) => {
    bytes += size;
    return allocUnsafeSlow(size);
  };
  Buffer.alloc = (size: number) => {
    bytes += size;
    return alloc(size);
  };
  Buffer.allocUnsafe = (size) => {
    bytes += size;
    return allocUnsafe(size);
  };
  try {
    return run(() => {
      const taken = bytes;
      bytes = 0;
      return taken;
    });
  } finally {
    Object.assign(Buffer, { allocUnsafeSlow, alloc, allocUnsafe });
  }
}
