export { type MemoryLog, memoryJournal } from './memory-journal.js';
