import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FULL, type Log, openLog } from '@troupe/wal';
import type { Trial } from '../runner/suite.js';
import { cpuMicros, inputOf, isAnswerTo, windowed } from './jobs-rig.js';

/** What the three records of a job take in the leader's log: enqueue and ack are so much beside their JSON, assign is all of it. */
const ENQUEUE_HEAD_BYTES = 29;
const ASSIGN_BYTES = 33;
const ACK_HEAD_BYTES = 13;
const JSON_BYTES_MAX = 256;

type Settle = (value: unknown) => void;
type Reject = (error: Error) => void;
type Loop = (log: Log) => (n: number) => Promise<unknown>;

/**
 * The loop of a job as one would write it by hand on the log, without a job system: the input becomes JSON in a record that is
 * durable before the handler runs, and so does the result before its caller has it.
 */
const handWritten: Loop = (log) => {
  const enqueue = Buffer.alloc(ENQUEUE_HEAD_BYTES + JSON_BYTES_MAX);
  const assign = Buffer.alloc(ASSIGN_BYTES);
  const ack = Buffer.alloc(ACK_HEAD_BYTES + JSON_BYTES_MAX);
  const handler = (input: unknown): unknown => input;
  const finish = (n: number, input: string, resolve: Settle, reject: Reject): void => {
    const result = JSON.stringify(handler(JSON.parse(input)));
    put(log, recordOf(ack, ACK_HEAD_BYTES, n, result), (error) =>
      error === null ? resolve(JSON.parse(result)) : reject(error),
    );
  };
  return (n) =>
    new Promise((resolve, reject) => {
      const input = JSON.stringify(inputOf(n));
      put(log, recordOf(enqueue, ENQUEUE_HEAD_BYTES, n, input));
      assign.writeUInt32LE(n);
      put(log, assign, (error) => (error === null ? finish(n, input, resolve, reject) : reject(error)));
    });
};

/** The same records without a job in them: constant bytes, nothing encoded and nothing run. */
const bytesAlone: Loop = (log) => {
  const jsonBytes = JSON.stringify(inputOf(50_000)).length;
  const enqueue = Buffer.alloc(ENQUEUE_HEAD_BYTES + jsonBytes, 1);
  const assign = Buffer.alloc(ASSIGN_BYTES, 2);
  const ack = Buffer.alloc(ACK_HEAD_BYTES + jsonBytes, 3);
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
  return {
    async run() {
      const started = performance.now();
      const cpuBefore = cpuMicros();
      const completed = await windowed(jobs, window, one, system === 'floor' ? isAnswerTo : undefined);
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
function recordOf(into: Buffer, headBytes: number, n: number, json: string): Buffer {
  into.writeUInt32LE(n);
  return into.subarray(0, headBytes + into.write(json, headBytes, 'latin1'));
}

function put(log: Log, record: Buffer, durable?: (error: Error | null) => void): void {
  if (log.append(record, durable) !== FULL) return;
  const kept = Buffer.from(record);
  log.onBufferSpace(() => put(log, kept, durable));
}
