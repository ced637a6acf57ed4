import { JobFrameType } from '../wire/job-frame-type.js';

/** Bounds of one message of a peer. */
export interface MessageLimits {
  /** Items of all its lists together. */
  readonly itemsMax: number;
  /** Of a message with payloads or results. */
  readonly payloadBytesMax: number;
  /** Of every other message. */
  readonly bytesMax: number;
}

const MIB = 1024 * 1024;

/** A dialer trusts its leader with the length of lists, and with the size of payloads. */
export const LEADER_MESSAGE_LIMITS: MessageLimits = {
  itemsMax: Number.POSITIVE_INFINITY,
  payloadBytesMax: 256 * MIB,
  bytesMax: 256 * MIB,
};

/** A message without payloads is a list of numbers or names, or a small JSON text. */
export const PLAIN_MESSAGE_BYTES_MAX = MIB;

export function messageBytesMax(type: number, limits: MessageLimits): number {
  switch (type) {
    case JobFrameType.Submit:
    case JobFrameType.SubmitAll:
    case JobFrameType.Report:
    case JobFrameType.Ends:
      return limits.payloadBytesMax;
    default:
      return limits.bytesMax;
  }
}
