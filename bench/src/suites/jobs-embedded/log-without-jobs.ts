import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FULL, type Log, openLog } from '@troupe/wal';
import type { Trial } from '../../runner/suite.js';
import { type Payload, resultOf } from '../jobs/payload.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { cpuMicros, PAYLOAD_BYTES, runWindow } from './embedded-setup.js';

/**
 * Sizes of the three records of a job in the leader's log: enqueue and ack without their JSON, assign in all.
 */
const ENQUEUE_HEAD_BYTES = 29;
const ASSIGN_BYTES = 33;
const ACK_HEAD_BYTES = 13;
const JSON_BYTES_MAX = 256;

type Resolve = (value: unknown) => void;
type Reject = (error: Error) => void;
type JobLoop = (log: Log) => (payload: Payload) => Promise<unknown>;

/**
 * A job loop written by hand on the log, without a job system: the payload is a durable JSON record before
 * the handler runs, and so is the result before the caller receives it.
 */
const handWritten: JobLoop = (log) => {
  const enqueue = Buffer.alloc(ENQUEUE_HEAD_BYTES + JSON_BYTES_MAX);
  const assign = Buffer.alloc(ASSIGN_BYTES);
  const ack = Buffer.alloc(ACK_HEAD_BYTES + JSON_BYTES_MAX);
  const runHandler = (id: number, input: string, resolve: Resolve, reject: Reject): void => {
    const result = JSON.stringify(resultOf(JSON.parse(input)));
    append(log, recordOf(ack, ACK_HEAD_BYTES, id, result), (error) =>
      error === null ? resolve(JSON.parse(result)) : reject(error),
    );
  };
  return (payload) =>
    new Promise((resolve, reject) => {
      const { id } = payload;
      const input = JSON.stringify(payload);
      append(log, recordOf(enqueue, ENQUEUE_HEAD_BYTES, id, input));
      assign.writeUInt32LE(id);
      append(log, assign, (error) =>
        error === null ? runHandler(id, input, resolve, reject) : reject(error),
      );
    });
};

/** The same records as constant bytes, without encoding and without a handler. */
const constantBytes: JobLoop = (log) => {
  const resultBytes = JSON.stringify(resultOf(new PayloadSource(PAYLOAD_BYTES).next())).length;
  const enqueue = Buffer.alloc(ENQUEUE_HEAD_BYTES + PAYLOAD_BYTES, 1);
  const assign = Buffer.alloc(ASSIGN_BYTES, 2);
  const ack = Buffer.alloc(ACK_HEAD_BYTES + resultBytes, 3);
  return () =>
    new Promise((resolve, reject) => {
      const settle = (error: Error | null): void => (error === null ? resolve(undefined) : reject(error));
      append(log, enqueue);
      append(log, assign, (error) => (error === null ? append(log, ack, settle) : reject(error)));
    });
};

/**
 * `floor` is the hand-written loop, `log` the constant bytes. Both wait for the disk twice per job, like
 * Troupe.
 */
export async function logLoop(system: 'floor' | 'log', jobs: number, window: number): Promise<Trial> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
  const log = await new Promise<Log>((resolve, reject) => {
    openLog({ dir }, (error, opened) => (error === null ? resolve(opened) : reject(error)));
  });
  const runOne = system === 'floor' ? handWritten(log) : constantBytes(log);
  const isCorrect = system === 'floor' ? undefined : () => true;
  const payloads = new PayloadSource(PAYLOAD_BYTES);
  return {
    async run() {
      const started = performance.now();
      const cpuBefore = cpuMicros();
      const completed = await runWindow(jobs, window, payloads, runOne, isCorrect);
      const extra = { cpuMicros: (cpuMicros() - cpuBefore) / jobs };
      return { attempted: jobs, completed, seconds: (performance.now() - started) / 1_000, extra };
    },
    close: async () => {
      await new Promise<void>((resolve) => log.close(() => resolve()));
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** Writes the record into a reused buffer; the log copies appended bytes. */
function recordOf(into: Buffer, headBytes: number, id: number, json: string): Buffer {
  into.writeUInt32LE(id);
  return into.subarray(0, headBytes + into.write(json, headBytes, 'latin1'));
}

function append(log: Log, record: Buffer, durable?: (error: Error | null) => void): void {
  if (log.append(record, durable) !== FULL) return;
  const copy = Buffer.from(record);
  log.onBufferSpace(() => append(log, copy, durable));
}
