export { isPattern, isSubject, matches } from './access/subject.js';
export { BodyCorruptError, HeaderError, PayloadBombError, TransportError } from './errors.js';
export { type PackedBody, packBody, unpackBody } from './frame/compression.js';
export {
  FRAME_HEAD_BYTES,
  FrameDecoder,
  type FrameSink,
  type FrameViolation,
} from './frame/frame-decoder.js';
export { FrameType } from './frame/frame-type.js';
export { FrameWriter } from './frame/frame-writer.js';
export { type Compression, type FrameHeader, NO_HEADER } from './frame/header.js';
