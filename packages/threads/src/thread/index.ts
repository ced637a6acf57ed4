// @troupe/threads/thread: one thread with typed ends, for packages that have threads of their own.
export { findBootModule } from './node-boot-module.js';
export { importModule } from './node-import-module.js';
export { NodeThread, type ThreadListener, type ThreadSpec } from './node-thread.js';
export { ThreadStartError } from './thread-errors.js';
