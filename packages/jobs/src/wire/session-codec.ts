import type { ByteWriter } from '../bytes/byte-writer.js';
import type { SessionRefusalCode } from '../jobs-error.js';
import type { SessionMessage } from '../protocol/session-messages.js';
import { JobFrameType } from './job-frame-type.js';
import { readEnum, writeEnum } from './wire-fields.js';
import type { WireReader } from './wire-reader.js';

/** Takes the bytes in the writer as one frame and empties it. */
export type Emit = (type: number, out: ByteWriter) => void;

const REFUSALS: readonly SessionRefusalCode[] = ['ERR_SESSION_MALFORMED', 'ERR_SESSION_REPLACED'];

export function encodeSessionMessage(message: SessionMessage, out: ByteWriter, emit: Emit): void {
  if (message.kind === 'heartbeat') return emit(JobFrameType.Heartbeat, out);
  writeEnum(out, REFUSALS, message.code);
  out.text(message.problem);
  emit(JobFrameType.SessionRefused, out);
}

/** Undefined for any other type. */
export function readSessionMessage(type: number, from: WireReader): SessionMessage | undefined {
  if (type === JobFrameType.Heartbeat) return { kind: 'heartbeat' };
  if (type !== JobFrameType.SessionRefused) return undefined;
  return { kind: 'refused', code: readEnum(from, REFUSALS, 'code'), problem: from.text() };
}
