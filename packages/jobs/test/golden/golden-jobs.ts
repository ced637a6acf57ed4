import { defineJob, handle, NonRetryableError } from '@troupe/jobs';
import { aNumber, aString } from '../plain-schema.js';

export const Count = defineJob('golden.count', { input: aNumber, output: aNumber });
export const Fail = defineJob('golden.fail', { input: aNumber, output: aNumber });
export const Hang = defineJob('golden.hang', { input: aNumber, output: aNumber });
export const Measure = defineJob('golden.measure', { input: aString, output: aNumber });

/** Handlers while the folders are written. */
export const HANDLERS = [
  handle(Count, (n) => n + 1),
  handle(Fail, () => {
    throw new NonRetryableError('it fails', { cause: new Error('the reason') });
  }),
  handle(Hang, () => new Promise<number>(() => undefined)),
  handle(Measure, (text) => text.length),
];

/** Of a log of a few records: the folders are files of the repository. */
export const SMALL = {
  segmentBytes: 131_072,
  firstSegmentBytes: 16_384,
  inlineBytesMax: 65_536,
  freeBytesSoft: 0,
};

/** A text that is stored beside the log, and small where it is compressed. */
export function textOf(chars: number): string {
  return 'golden '.repeat(Math.ceil(chars / 7)).slice(0, chars);
}
