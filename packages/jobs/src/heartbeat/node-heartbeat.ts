// The main loop's side of the pulse: one thread for all workers of this process, there while there are workers.

import { Worker } from 'node:worker_threads';
import { Secret } from '@troupe/transport';
import type { PulseOrder } from './blocked-loop-reporter.js';
import type { PulseNotice } from './node-heartbeat-thread.js';

/** What watches over one worker of this process. */
export interface PulseSeat {
  /** Runs when the thread is awake, or has failed to be: a job before that would not be watched over. */
  whenAwake(run: () => void): void;
  watch(order: PulseOrder): void;
  leave(): void;
}

interface PulseThread {
  /** Undefined once it is awake. */
  waiting: (() => void)[] | undefined;
  readonly worker: Worker;
  readonly ticks: Int32Array;
  timer: NodeJS.Timeout | undefined;
  tickMs: number;
}

const seats = new Set<number>();
let nextSeat = 0;
let thread: PulseThread | undefined;

export function takePulseSeat(): PulseSeat {
  nextSeat += 1;
  const seat = nextSeat;
  let hasLeft = false;
  seats.add(seat);
  // Before there is a connection, so that it is awake when the first job comes.
  thread ??= startThread();
  return {
    whenAwake: (run) => {
      if (thread?.waiting === undefined) run();
      else thread.waiting.push(run);
    },
    watch: (order) => {
      if (hasLeft) return;
      thread ??= startThread();
      beatAtLeast(thread, order.beatMs / 2);
      post(thread, { seat, order: { ...order, dial: cloneable(order.dial) } });
    },
    leave: () => {
      hasLeft = true;
      if (!seats.delete(seat) || thread === undefined) return;
      if (seats.size > 0) post(thread, { seat, order: undefined });
      else endThread(thread);
    },
  };
}

function post({ worker }: PulseThread, notice: PulseNotice): void {
  worker.postMessage(notice);
}

function startThread(): PulseThread {
  const shared = new SharedArrayBuffer(4);
  const worker = new Worker(new URL('./node-heartbeat-thread.js', import.meta.url), {
    name: 'troupe-pulse',
    workerData: shared,
    // Nothing of how this process was started (loaders, profilers, heap sizes) is meant for it.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  const started: PulseThread = {
    waiting: [],
    worker,
    ticks: new Int32Array(shared),
    timer: undefined,
    tickMs: Number.POSITIVE_INFINITY,
  };
  // It must never be the reason why a process stays.
  worker.unref();
  worker.once('message', () => awake(started));
  worker.once('error', (error) => {
    if (thread !== started) return;
    endThread(started);
    const lost = 'leases are renewed by the event loop alone until the next connection to the leader';
    process.emitWarning(`the pulse thread failed, ${lost}: ${error.message}`, { code: 'TROUPE_PULSE' });
  });
  return started;
}

function awake(started: PulseThread): void {
  const waiting = started.waiting ?? [];
  started.waiting = undefined;
  for (const run of waiting) run();
}

function endThread(ending: PulseThread): void {
  awake(ending);
  clearInterval(ending.timer);
  thread = undefined;
  void ending.worker.terminate();
}

/** The proof that the loop turns. The most impatient leader decides how often it is given. */
function beatAtLeast(beating: PulseThread, everyMs: number): void {
  if (everyMs >= beating.tickMs) return;
  beating.tickMs = everyMs;
  clearInterval(beating.timer);
  beating.timer = setInterval(() => Atomics.add(beating.ticks, 0, 1), everyMs);
  beating.timer.unref();
}

/** Keys hide from cloning as from everything else; the thread is the same process and proves the same identity with it. */
function cloneable(dial: PulseOrder['dial']): PulseOrder['dial'] {
  const { auth } = dial;
  if (auth?.kind !== 'hmac' || !(auth.key instanceof Secret)) return dial;
  return { ...dial, auth: { ...auth, key: new Uint8Array(auth.key.reveal()) } };
}
