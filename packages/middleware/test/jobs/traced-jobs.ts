import { defineJob } from '@troupe/jobs';

const text = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate: (value: unknown) =>
      typeof value === 'string' ? { value } : { issues: [{ message: 'not a string' }] },
  },
};

export const Shout = defineJob('text.shout', { input: text, output: text });
export const Flaky = defineJob('text.flaky', {
  input: text,
  output: text,
  retry: { attempts: 2, baseMs: 1, capMs: 2, jitter: 0 },
});
