import { defineJob, type JobInput, type JobOutput } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { aNumber, aString } from '../../plain-schema.js';

const definition = suite('job definition');

const coded = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

definition('the default retry is six attempts, 1 s × 2 up to 30 s ± 20 %', () => {
  const job = defineJob('mail.send', { input: aString, output: aNumber });
  assert.is(job.policy.group, 'mail');
  assert.equal(job.policy.retry, {
    attempts: 6,
    backoff: 'exponential',
    baseMs: 1_000,
    capMs: 30_000,
    jitter: 0.2,
    crashes: 5,
  });
});

definition('the types of input and output follow from the schemas', () => {
  const job = defineJob('mail.send', { input: aString, output: aNumber });
  const input: JobInput<typeof job> = 'text';
  const output: JobOutput<typeof job> = 1;
  // @ts-expect-error a number is not this job's input
  const wrong: JobInput<typeof job> = 1;
  assert.equal([input, output, wrong], ['text', 1, 1]);
});

definition('an unknown option is a compile-time and a run-time error', () => {
  // @ts-expect-error 'retries' is not an option
  const top = () => defineJob('a', { input: aString, output: aString, retries: 3 });
  // @ts-expect-error 'attempt' is not an option of retry
  const nested = () => defineJob('a', { input: aString, output: aString, retry: { attempt: 3 } });
  assert.throws(top, coded('ERR_JOB_DEFINITION'));
  assert.throws(top, /retries: there is no such option/);
  assert.throws(nested, /retry\.attempt: there is no such option/);
});

definition('the error for a value out of range names the option, the range and the value', () => {
  const make = (extra: object) => () => defineJob('a', { input: aString, output: aString, ...extra });
  assert.throws(make({ leaseMs: -1 }), /leaseMs: needed a whole number from 10 .* got -1/);
  assert.throws(make({ retry: { attempts: 0 } }), /retry\.attempts: needed/);
  assert.throws(make({ retry: { jitter: Number.NaN } }), /retry\.jitter: needed/);
  assert.throws(make({ retry: { backoff: 'wild' } }), /constant, linear, exponential/);
  assert.throws(make({ group: 'a.b' }), /one token/);
  assert.throws(make({ limits: { outputBytes: 12 * 1024 * 1024 } }), /outputBytes.*11534336/);
  assert.throws(make({ keep: null }), /keep: needed an object/);
  assert.throws(make({ input: {} }), /Standard Schema/);
});

definition('a name must be tokens joined by dots', () => {
  for (const name of ['', 'a..b', 'a.*', 'a.>', 'a b', '.a', 'x'.repeat(300)]) {
    assert.throws(
      () => defineJob(name, { input: aString, output: aString }),
      coded('ERR_JOB_DEFINITION'),
      name,
    );
  }
});

definition.run();
