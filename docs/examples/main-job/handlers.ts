// What `troupe worker` loads in the two worker processes.
import { handle } from '@troupe/jobs';
import { inspectFile } from './inspect-file.js';
import { Inspect } from './jobs.js';

export const inspect = handle(Inspect, (task) => inspectFile(process.cwd(), task));
