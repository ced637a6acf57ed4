import { defineJob, handle } from '@troupe/jobs';
import { testJobs } from '@troupe/jobs/testing';
import { aNumber, aString } from '../plain-schema.js';

const lengthOf = defineJob('text.length', { input: aString, output: aNumber });

await using jobs = await testJobs({ handlers: [handle(lengthOf, (text) => text.length)] });
export const length: number = await jobs.run(lengthOf, 'four');
// @ts-expect-error the input is a text
await jobs.run(lengthOf, 4);
// @ts-expect-error the output is a number
export const text: string = await jobs.result(await jobs.client.submit(lengthOf, 'four'));
// @ts-expect-error a world without handlers
await testJobs({});
