import type { ByteWriter } from '../bytes/byte-writer.js';
import { skipOptionalFields, writeOptionalFields } from '../bytes/optional-fields.js';
import type { SessionRefusalCode } from '../jobs-error.js';
import { JOB_PROTOCOL, type ProtocolOffer } from '../protocol/job-protocol.js';
import type { SessionMessage } from '../protocol/session-messages.js';
import { JobFrameType } from './job-frame-type.js';
import { readTexts, readWord, writeTexts, writeWord } from './wire-fields.js';
import type { WireReader } from './wire-reader.js';

/** Takes the bytes in the writer as one frame and empties it. */
export type Emit = (type: number, out: ByteWriter) => void;

const REFUSALS: readonly SessionRefusalCode[] = [
  'ERR_SESSION_MALFORMED',
  'ERR_SESSION_REPLACED',
  'ERR_SESSION_VERSION',
  'ERR_SESSION_STOPPED',
];

/** The beginning of every hello and welcome, in every version. */
export function writeOffer(out: ByteWriter, { protocol = JOB_PROTOCOL, features = [] }: ProtocolOffer): void {
  out.int(protocol);
  writeTexts(out, features);
}

export function readOffer(from: WireReader): { readonly protocol: number; readonly features: string[] } {
  return { protocol: from.int(), features: readTexts(from) };
}

export function encodeSessionMessage(message: SessionMessage, out: ByteWriter, emit: Emit): void {
  if (message.kind === 'heartbeat') return emit(JobFrameType.Heartbeat, out);
  writeWord(out, REFUSALS, message.code);
  out.text(message.problem);
  writeOptionalFields(out, []);
  emit(JobFrameType.SessionRefused, out);
}

/** Undefined for any other type. */
export function readSessionMessage(type: number, from: WireReader): SessionMessage | undefined {
  if (type === JobFrameType.Heartbeat) return { kind: 'heartbeat' };
  if (type !== JobFrameType.SessionRefused) return undefined;
  const code = readWord(from, REFUSALS, 'ERR_SESSION_REFUSED');
  const problem = from.text();
  skipOptionalFields(from);
  return { kind: 'refused', code, problem };
}
