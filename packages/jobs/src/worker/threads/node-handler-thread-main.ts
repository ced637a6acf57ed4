// Entry of a thread that runs handlers. An import on the main thread does nothing.

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { nodeHost } from '@troupe/core';
import { importModule } from '@troupe/threads/thread';
import { exportedHandlers } from './exported-handlers.js';
import { ThreadCalls } from './thread-calls.js';
import type { HandlerThreadData, ToHandlerThread } from './thread-messages.js';

if (!isMainThread && parentPort !== null) {
  const port = parentPort;
  const { module } = workerData as HandlerThreadData; // node-handler-threads.ts passes it
  const calls = new ThreadCalls({
    handlers: exportedHandlers(module, await importModule(module)),
    clock: nodeHost,
    post: (message) => port.postMessage(message),
    soon: (run) => void setImmediate(run),
    closed: () => port.close(),
  });
  port.on('message', (message: ToHandlerThread) => calls.receive(message));
  calls.start();
}
