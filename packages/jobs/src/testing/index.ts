export { type JournalPlace, type JournalRule, journalConformance } from './journal-conformance.js';
export { type MemoryLog, memoryJournal } from './memory-journal.js';
export { type MemoryFiles, memorySpill } from './memory-spill.js';
export { type TestJobs, type TestJobsOptions, testJobs } from './test-jobs.js';
export { TestJobError, UnclosedJobsError } from './testing-errors.js';
export type { VirtualTimeHost } from './virtual-time-host.js';
