// The module with which a thread of actors starts: it makes the system of the thread. An import on the main
// thread does nothing.

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import {
  createSystem,
  type Middleware,
  OptionError,
  type SystemThreads,
  type ThreadReceiver,
} from '@troupe/core';
import { importModule } from '../thread/node-import-module.js';
import { ControlMemory } from './control-memory.js';
import { ThreadCarrier } from './node-thread-carrier.js';
import type { ThreadData, ThreadMessage } from './thread-message.js';

/** The exports of the module that `threads.middleware` names. */
interface ThreadModule {
  readonly middleware: readonly Middleware[];
  /** Awaited before the thread ends: exporters have something to flush. */
  readonly close: (() => unknown) | undefined;
}

const NOTHING: ThreadModule = { middleware: [], close: undefined };

if (!isMainThread) await startSystem(workerData as ThreadData);

async function startSystem({ carrier: spec, settings, middleware: module }: ThreadData): Promise<void> {
  let carrier: ThreadCarrier | undefined;

  const memory = new ControlMemory(spec.names.length, spec.control);
  const threads: SystemThreads = {
    monitored: { words: memory.notesOf(spec.self), self: spec.self },
    open(receiver: ThreadReceiver) {
      carrier = new ThreadCarrier(spec, receiver, () => undefined);
      return carrier;
    },
  };

  const { middleware, close } = module === undefined ? NOTHING : await threadModule(module);
  // Long computation is what threads are for.
  createSystem({ ...settings, threads, middleware, warn: false });

  parentPort?.on('message', (message: ThreadMessage) => {
    if (message.kind === 'replaced') carrier?.replaced(message.ends, carrier.unpack(message.error) as Error);
    else void Promise.resolve(close?.()).finally(() => process.exit(0));
  });
  parentPort?.unref();
  parentPort?.postMessage('up');
}

async function threadModule(module: string): Promise<ThreadModule> {
  const { middleware, close } = await importModule(module);
  if (!Array.isArray(middleware))
    throw new OptionError(
      'threads.middleware',
      module,
      'needed a module that exports `middleware`, an array',
    );
  // `createSystem` checks each of them.
  return { middleware: middleware as readonly Middleware[], close: close as ThreadModule['close'] };
}
