import { traceBytes } from '../../job/trace-context.js';
import type { SubmitItem } from './client-messages.js';

/** Of one character. */
const UTF8_BYTES_MAX = 3;

/** The most bytes that a submit has in a record, beside its numbers. */
export function submitBytes({ payload, key, trace, orderKey = '', tags = [] }: SubmitItem): number {
  const texts = UTF8_BYTES_MAX * (key.length + orderKey.length + tags.join(' ').length);
  return payload.length + texts + (trace === undefined ? 0 : traceBytes(trace));
}
