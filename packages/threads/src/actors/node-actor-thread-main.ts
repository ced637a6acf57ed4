// The module with which a thread of actors starts: it makes the system of the thread. An import on the main
// thread does nothing.

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { createSystem, type SystemThreads, type ThreadReceiver } from '@troupe/core';
import { ControlMemory } from './control-memory.js';
import { ThreadCarrier } from './node-thread-carrier.js';
import type { ThreadData, ThreadMessage } from './thread-message.js';

if (!isMainThread) startSystem(workerData as ThreadData);

function startSystem({ carrier: spec, settings }: ThreadData): void {
  let carrier: ThreadCarrier | undefined;

  const memory = new ControlMemory(spec.names.length, spec.control);
  const threads: SystemThreads = {
    monitored: { words: memory.notesOf(spec.self), self: spec.self },
    open(receiver: ThreadReceiver) {
      carrier = new ThreadCarrier(spec, receiver, () => undefined);
      return carrier;
    },
  };

  // Long computation is what threads are for.
  createSystem({ ...settings, threads, warn: false });

  parentPort?.on('message', (message: ThreadMessage) => {
    if (message.kind === 'replaced') carrier?.replaced(message.ends, carrier.unpack(message.error) as Error);
    else process.exit(0);
  });
  parentPort?.unref();
  parentPort?.postMessage('up');
}
