export { type RecordedLine, type RecordingLogger, recordingLogger } from './recording-logger.js';
