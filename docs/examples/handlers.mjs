// npx troupe worker docs/examples/handlers.mjs
import { defineJob, handle } from '@troupe/jobs';

/** A Standard Schema from a predicate; zod, valibot and arktype have their own. */
const schema = (name, accepts) => ({
  '~standard': {
    version: 1,
    vendor: 'example',
    validate: (value) => (accepts(value) ? { value } : { issues: [{ message: `not ${name}` }] }),
  },
});

const isNumber = (value) => typeof value === 'number';
const number = schema('a number', isNumber);
const pair = schema(
  'a pair of numbers',
  (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber),
);

export const Add = defineJob('math.add', { input: pair, output: number });
export const add = handle(Add, ([a, b]) => a + b);
