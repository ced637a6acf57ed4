import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FULL, type Log, openLog } from '@troupe/wal';
import type { Trial } from '../../runner/suite.js';
import { type Payload, Payloads, resultOf } from '../jobs/payload.js';
import { cpuMicros, PAYLOAD_BYTES, windowed } from './embedded-setup.js';

/** What the three records of a job take in the leader's log: enqueue and ack are so much beside their JSON, assign is all of it. */
const ENQUEUE_HEAD_BYTES = 29;
const ASSIGN_BYTES = 33;
const ACK_HEAD_BYTES = 13;
const JSON_BYTES_MAX = 256;

type Settle = (value: unknown) => void;
type Reject = (error: Error) => void;
type Loop = (log: Log) => (payload: Payload) => Promise<unknown>;

/**
 * The loop of a job as one would write it by hand on the log, without a job system: the payload becomes JSON in a record that is
 * durable before the handler runs, and so does the result before its caller has it.
 */
const handWritten: Loop = (log) => {
  const enqueue = Buffer.alloc(ENQUEUE_HEAD_BYTES + JSON_BYTES_MAX);
  const assign = Buffer.alloc(ASSIGN_BYTES);
  const ack = Buffer.alloc(ACK_HEAD_BYTES + JSON_BYTES_MAX);
  const finish = (id: number, input: string, resolve: Settle, reject: Reject): void => {
    const result = JSON.stringify(resultOf(JSON.parse(input)));
    put(log, recordOf(ack, ACK_HEAD_BYTES, id, result), (error) =>
      error === null ? resolve(JSON.parse(result)) : reject(error),
    );
  };
  return (payload) =>
    new Promise((resolve, reject) => {
      const { id } = payload;
      const input = JSON.stringify(payload);
      put(log, recordOf(enqueue, ENQUEUE_HEAD_BYTES, id, input));
      assign.writeUInt32LE(id);
      put(log, assign, (error) => (error === null ? finish(id, input, resolve, reject) : reject(error)));
    });
};

/** The same records without a job in them: constant bytes, nothing encoded and nothing run. */
const bytesAlone: Loop = (log) => {
  const resultBytes = JSON.stringify(resultOf(new Payloads(PAYLOAD_BYTES).next())).length;
  const enqueue = Buffer.alloc(ENQUEUE_HEAD_BYTES + PAYLOAD_BYTES, 1);
  const assign = Buffer.alloc(ASSIGN_BYTES, 2);
  const ack = Buffer.alloc(ACK_HEAD_BYTES + resultBytes, 3);
  return () =>
    new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => (error === null ? resolve(undefined) : reject(error));
      put(log, enqueue);
      put(log, assign, (error) => (error === null ? put(log, ack, settle) : reject(error)));
    });
};

/** `floor` is the hand-written loop, `log` the bytes alone. Both wait for the disk twice a job, as a job does. */
export async function bareLoop(system: 'floor' | 'log', jobs: number, window: number): Promise<Trial> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  const log = await new Promise<Log>((resolve, reject) => {
    openLog({ dir }, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  const one = system === 'floor' ? handWritten(log) : bytesAlone(log);
  const right = system === 'floor' ? undefined : () => true;
  const payloads = new Payloads(PAYLOAD_BYTES);
  return {
    async run() {
      const started = performance.now();
      const cpuBefore = cpuMicros();
      const completed = await windowed(jobs, window, payloads, one, right);
      const extra = { cpuMicros: (cpuMicros() - cpuBefore) / jobs };
      return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000, extra };
    },
    close: async () => {
      await new Promise<void>((resolve) => log.close(() => resolve()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Writes the record into a buffer that is used again: the log copies what is appended. */
function recordOf(into: Buffer, headBytes: number, id: number, json: string): Buffer {
  into.writeUInt32LE(id);
  return into.subarray(0, headBytes + into.write(json, headBytes, 'latin1'));
}

function put(log: Log, record: Buffer, durable?: (error: Error | null) => void): void {
  if (log.append(record, durable) !== FULL) return;
  const kept = Buffer.from(record);
  log.onBufferSpace(() => put(log, kept, durable));
}
