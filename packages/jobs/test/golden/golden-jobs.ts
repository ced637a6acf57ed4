import { defineJob, handle, NonRetryableError } from '@troupe/jobs';
import { aNumber, aString } from '../plain-schema.js';

export const Count = defineJob('golden.count', { input: aNumber, output: aNumber });
export const Fail = defineJob('golden.fail', { input: aNumber, output: aNumber });
export const Hang = defineJob('golden.hang', { input: aNumber, output: aNumber });
export const Measure = defineJob('golden.measure', { input: aString, output: aNumber });
export const Stream = defineJob('golden.stream', { input: aNumber, output: aString, chunk: aString });

export const Talk = defineJob('golden.talk', {
  input: aNumber,
  output: aString,
  chunk: aString,
  feed: aString,
});

/** Handlers while the folders are written. */
export const counting = handle(Count, (n) => n + 1);
export const failing = handle(Fail, () => {
  throw withoutStack(new NonRetryableError('it fails', { cause: withoutStack(new Error('the reason')) }));
});
export const hanging = handle(Hang, () => new Promise<number>(() => undefined));
export const streaming = handle(Stream, async function* (n, context) {
  for (let i = 0; i < n; i += 1) yield `${i} `;
  context.trailer({ chunks: n });
  return undefined;
});

/** Handlers of the leader that opens them. */
export const FINISHING = [
  counting,
  handle(Fail, (n) => -n),
  handle(Hang, (n) => 10 * n),
  handle(Measure, (text) => text.length),
  handle(Talk, async function* (_input, { feed }) {
    for await (const item of feed) yield item;
  }),
];

export const TRACE = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01`, tracestate: 'golden=1' };

/** A folder that is a file of the repository names no path of the machine that wrote it. */
function withoutStack(error: Error): Error {
  error.stack = '';
  return error;
}

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
