// Entry of a thread of a ThreadPoolExecutor.

import { workerData } from 'node:worker_threads';
import type { PoolThreadData } from './memory/thread-messages.js';
import { ThreadLoop } from './thread-side/node-thread-loop.js';

new ThreadLoop(workerData as PoolThreadData).start(); // ThreadLink passes it
