export { type ThreadsOptions, threads } from './actors/node-threads.js';
export {
  NotCloneableError,
  ThreadDefinitionError,
  ThreadEndedError,
  ThreadMemoryError,
  ThreadStartError,
} from './thread/thread-errors.js';
export { transfer } from './value/transfer.js';
