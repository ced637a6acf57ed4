export { type RecordedLine, type RecordingSink, recordingSink } from './recording-sink.js';
