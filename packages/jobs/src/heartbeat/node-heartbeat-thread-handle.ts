// The main loop's side of the heartbeat thread: one for all workers of this process, running while there are
// workers.

import { randomBytes } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { findModuleFile, type ModuleFile, moduleFileRemedy } from '@troupe/core/module-file';
import { Secret } from '@troupe/transport';
import type { WatchedWorker } from './blocked-loop-reporter.js';
import type { HeartbeatThreadMessage } from './node-heartbeat-thread-main.js';

/** One worker of this process at the heartbeat thread. */
export interface HeartbeatRegistration {
  /** Proves to the leader that worker and heartbeat are the same process. */
  readonly token: string;
  /** Runs once the thread is ready or has failed to start: a job before that would not be watched. */
  whenReady(run: () => void): void;
  watch(worker: WatchedWorker): void;
  unregister(): void;
}

interface HeartbeatThread {
  /** Undefined once it is ready. */
  waiting: (() => void)[] | undefined;
  readonly worker: Worker;
  readonly ticks: Int32Array;
  timer: NodeJS.Timeout | undefined;
  tickMs: number;
}

const registrations = new Set<number>();
let lastRegistration = 0;
let thread: HeartbeatThread | undefined;

export function registerWorker(): HeartbeatRegistration {
  lastRegistration += 1;
  const registration = lastRegistration;
  let isOver = false;
  registrations.add(registration);
  // Before there is a connection, so that it is ready when the first job comes.
  thread ??= startThread();
  return {
    token: randomBytes(16).toString('hex'),
    whenReady: (run) => {
      if (thread?.waiting === undefined) run();
      else thread.waiting.push(run);
    },
    watch: (worker) => {
      if (isOver) return;
      thread ??= startThread();
      tickAtLeast(thread, worker.heartbeatMs / 2);
      post(thread, { registration, watched: { ...worker, dial: cloneable(worker.dial) } });
    },
    unregister: () => {
      isOver = true;
      if (!registrations.delete(registration) || thread === undefined) return;
      if (registrations.size > 0) post(thread, { registration, watched: undefined });
      else endThread(thread);
    },
  };
}

const BOOT_MODULE: ModuleFile = {
  path: './node-heartbeat-thread-main.js',
  from: import.meta.url,
  entry: '@troupe/jobs/heartbeat-thread',
};

function post({ worker }: HeartbeatThread, message: HeartbeatThreadMessage): void {
  worker.postMessage(message);
}

function startThread(): HeartbeatThread {
  const shared = new SharedArrayBuffer(4);
  // A path that does not exist is an error of the worker, below.
  const worker = new Worker(findModuleFile(BOOT_MODULE) ?? BOOT_MODULE.path, {
    name: 'troupe-heartbeat',
    workerData: shared,
    // Loaders, profilers and heap sizes of this process are not meant for it.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  const started: HeartbeatThread = {
    waiting: [],
    worker,
    ticks: new Int32Array(shared),
    timer: undefined,
    tickMs: Number.POSITIVE_INFINITY,
  };
  // It must never be the reason why a process stays.
  worker.unref();
  worker.once('message', () => ready(started));
  worker.once('error', (error) => {
    if (thread !== started) return;
    endThread(started);
    const effect = 'leases are renewed by the event loop alone until the next connection to the leader';
    const isMissing = findModuleFile(BOOT_MODULE) === undefined;
    const reason = isMissing ? moduleFileRemedy(BOOT_MODULE) : error.message;
    process.emitWarning(`the heartbeat thread failed, ${effect}: ${reason}`, {
      code: 'TROUPE_HEARTBEAT',
    });
  });
  return started;
}

function ready(started: HeartbeatThread): void {
  const waiting = started.waiting ?? [];
  started.waiting = undefined;
  for (const run of waiting) run();
}

function endThread(ending: HeartbeatThread): void {
  ready(ending);
  clearInterval(ending.timer);
  thread = undefined;
  void ending.worker.terminate();
}

/** Each tick proves that the loop runs. The shortest interval wins. */
function tickAtLeast(ticking: HeartbeatThread, everyMs: number): void {
  if (everyMs >= ticking.tickMs) return;
  ticking.tickMs = everyMs;
  clearInterval(ticking.timer);
  ticking.timer = setInterval(() => Atomics.add(ticking.ticks, 0, 1), everyMs);
  ticking.timer.unref();
}

/** A secret cannot be cloned. The thread is the same process and proves the same identity with its bytes. */
function cloneable(dial: WatchedWorker['dial']): WatchedWorker['dial'] {
  const { auth } = dial;
  if (auth?.kind !== 'hmac' || !(auth.key instanceof Secret)) return dial;
  return { ...dial, auth: { ...auth, key: new Uint8Array(auth.key.reveal()) } };
}
