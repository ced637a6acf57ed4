import { defineJob, handle } from '@troupe/jobs';
import { aNumber, anything, aString } from '../plain-schema.js';

const MONTH_MS = 30 * 24 * 3_600_000;

/** Returns its input. Its result is kept beyond the clock steps of a campaign, which are of up to a day. */
export const Echo = defineJob('sample.echo', {
  input: anything,
  output: anything,
  keep: { doneMs: MONTH_MS },
});
/** Returns the items that it is fed. A feed whose client was killed ends soon. */
export const Fed = defineJob('sample.fed-list', {
  input: aString,
  output: anything,
  chunk: aString,
  collect: false,
  feed: aString,
  keep: { doneMs: MONTH_MS },
  limits: { feedGraceMs: 1_000 },
  retry: { attempts: 20, baseMs: 10, capMs: 100, crashes: 20 },
});
/** Takes so many milliseconds. */
export const Nap = defineJob('sample.nap', { input: aNumber, output: anything, retry: { baseMs: 10 } });
/** Runs until its signal aborts. */
export const Endless = defineJob('sample.endless', { input: anything, output: anything });
/** Its first attempt never ends; the others do at once. */
export const Second = defineJob('sample.second', { input: anything, output: anything });
/** Always fails; two attempts. */
export const Fail = defineJob('sample.fail', {
  input: anything,
  output: anything,
  retry: { attempts: 2, baseMs: 1, capMs: 1 },
});

/** Its first attempt blocks the event loop for so many milliseconds; the others return at once. */
export const Spin = defineJob('sample.spin', {
  input: aNumber,
  output: anything,
  leaseMs: 1_000,
  retry: { baseMs: 10 },
});
/** The same, with a lease that does not end during a test. */
export const LongSpin = defineJob('sample.long-spin', { input: aNumber, output: anything });
/** The same, with a second and a half to run. */
export const BriefSpin = defineJob('sample.brief-spin', {
  input: aNumber,
  output: anything,
  leaseMs: 1_000,
  limits: { runMs: 1_500 },
  retry: { baseMs: 10 },
});

export function sampleHandlers(name: string, started: (exec: string, input: unknown) => void) {
  const spin = (exec: string, ms: number, attempt: number): string => {
    started(exec, ms);
    const until = performance.now() + (attempt === 1 ? ms : 0);
    while (performance.now() < until);
    return name;
  };
  return [
    handle(Spin, (ms, { attempt }) => spin('spin', ms, attempt)),
    handle(LongSpin, (ms, { attempt }) => spin('long-spin', ms, attempt)),
    handle(BriefSpin, (ms, { attempt }) => spin('brief-spin', ms, attempt)),
    handle(Echo, (input) => {
      started('echo', input);
      return input;
    }),
    handle(Fed, async function* (_input, { feed }) {
      const items: string[] = [];
      for await (const item of feed) {
        items.push(item);
        yield item;
      }
      return items;
    }),
    handle(Nap, async (ms, { signal }) => {
      started('nap', ms);
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          reject(signal.reason as Error);
        });
      });
      return name;
    }),
    handle(Endless, (input, { signal }) => {
      started('endless', input);
      return new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    }),
    handle(Second, (input, { attempt }) => {
      started('second', input);
      return attempt === 1 ? new Promise(() => undefined) : name;
    }),
    handle(Fail, () => {
      throw new RangeError('it never works');
    }),
  ];
}
