export {
  NotCloneableError,
  ThreadEndedError,
  ThreadMemoryError,
  ThreadStartError,
} from './thread/thread-errors.js';
