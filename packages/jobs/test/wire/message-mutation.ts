import { SeededRandom } from '@troupe/core/testing';
import { JobsError } from '@troupe/jobs';
import { readClient, readClientHello, readToClient } from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { WireReader } from '#src/wire/wire-reader.js';
import {
  readHeartbeatHello,
  readLoopBlocked,
  readToWorker,
  readWorker,
  readWorkerHello,
} from '#src/wire/worker/worker-codec.js';
import { GOLDEN_FRAMES } from './golden-frames.js';

const ITEMS_MAX = 16_384;
/** An input that is slower than this each time it is tried is slow. */
const TIME_MS_MAX = 5;
/** The lengths and numbers at which a decoder may give way. */
const EXTREMES = ['00', '7f', '8001', 'ff7f', 'ffffffff0f', 'ffffffffffffff0f', 'ffffffffffffffffff01'];

const TYPES: readonly number[] = Object.values(JobFrameType);

type Read = (type: number, from: WireReader) => unknown;

/** A frame meets the reader of any role: a peer may take any of them. */
const READERS: readonly Read[] = [
  readClient,
  readToClient,
  readWorker,
  readToWorker,
  (_type, from) => readClientHello(from),
  (_type, from) => readWorkerHello(from),
  (_type, from) => readHeartbeatHello(from),
  (_type, from) => readLoopBlocked(from),
];

export interface MessageMutationReport {
  readonly inputs: number;
  /** Mutated frames that were messages all the same. */
  readonly messages: number;
  readonly slowestMs: number;
}

/**
 * Runs mutated frames of all kinds through the readers of messages, until `isOver`. Throws at any exception
 * but the one of a malformed message, and at an input that is slow.
 */
export function runMessageMutations(
  seed: number,
  isOver: (inputs: number) => boolean,
): MessageMutationReport {
  const random = new SeededRandom(seed);
  const bodies = GOLDEN_FRAMES.map(({ hex }) => Buffer.from(hex, 'hex'));
  let inputs = 0;
  let messages = 0;
  let slowestMs = 0;
  for (; !isOver(inputs); inputs += 1) {
    const at = random.below(GOLDEN_FRAMES.length);
    const { type: own, read } = GOLDEN_FRAMES[at] as (typeof GOLDEN_FRAMES)[number]; // at < length
    const type = random.below(8) === 0 ? (TYPES[random.below(TYPES.length)] as number) : own;
    const body = mutate(random, bodies, at);
    const reader = random.below(4) === 0 ? (READERS[random.below(READERS.length)] as Read) : read;
    const started = performance.now();
    if (isMessage(reader, type, body)) messages += 1;
    const firstMs = performance.now() - started;
    const ms = firstMs > TIME_MS_MAX ? repeatedMs(reader, type, body, firstMs) : firstMs;
    if (ms > TIME_MS_MAX) throw new Error(`${ms} ms for type ${type} ${body.toString('hex')}`);
    slowestMs = Math.max(slowestMs, ms);
  }
  return { inputs, messages, slowestMs };
}

function isMessage(read: Read, type: number, body: Buffer): boolean {
  try {
    return read(type, new WireReader(body, false, ITEMS_MAX)) !== undefined;
  } catch (error) {
    if (error instanceof JobsError) return false;
    throw new Error(`type ${type} ${body.toString('hex')}`, { cause: error });
  }
}

/** The machine may pause the process: only an input that is slow each time is slow. */
function repeatedMs(read: Read, type: number, body: Buffer, firstMs: number): number {
  let ms = firstMs;
  for (let again = 0; again < 5 && ms > TIME_MS_MAX; again += 1) {
    const started = performance.now();
    isMessage(read, type, body);
    ms = Math.min(ms, performance.now() - started);
  }
  return ms;
}

function mutate(random: SeededRandom, bodies: readonly Buffer[], index: number): Buffer {
  let body = Buffer.from(bodies[index] as Buffer); // index < length
  for (let changes = random.between(1, 4); changes > 0; changes -= 1) {
    const at = random.below(body.length + 1);
    switch (random.below(5)) {
      case 0:
        if (at < body.length) body[at] = random.below(256);
        break;
      case 1:
        body = body.subarray(0, at);
        break;
      case 2:
        body = Buffer.concat([body.subarray(0, at), random.bytes(random.between(1, 8)), body.subarray(at)]);
        break;
      case 3: {
        const extreme = Buffer.from(EXTREMES[random.below(EXTREMES.length)] as string, 'hex');
        body = Buffer.concat([body.subarray(0, at), extreme, body.subarray(at + 1)]);
        break;
      }
      default: {
        const other = bodies[random.below(bodies.length)] as Buffer;
        body = Buffer.concat([body.subarray(0, at), other.subarray(random.below(other.length + 1))]);
      }
    }
  }
  return body;
}
