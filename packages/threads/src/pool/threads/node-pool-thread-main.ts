// Entry of a thread of a ThreadPoolExecutor. An import on the main thread does nothing.

import { isMainThread, workerData } from 'node:worker_threads';
import type { PoolThreadData } from '../memory/thread-messages.js';
import { ThreadLoop } from '../thread-side/node-thread-loop.js';

if (!isMainThread) new ThreadLoop(workerData as PoolThreadData).start(); // ThreadLink passes it
