// The handlers that `troupe worker` loads in the two worker processes.
import { handle } from '@troupe/jobs';
import { inspectFile } from './inspect-file.js';
import { Inspect } from './inspect-job.js';

export const inspect = handle(Inspect, (task) => inspectFile(process.cwd(), task));
