import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { POLICY_CHECKS } from '#src/job/definition/job-policy.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { GOLDEN_CALLS } from './golden-calls.js';

const types = suite('job frame types');

const page = readFileSync(new URL('../../../../docs/wire-protocol.md', import.meta.url), 'utf8');

types('the wire protocol page lists every frame type of jobs under its number', () => {
  for (const [name, type] of Object.entries(JobFrameType)) assert.match(page, `| ${type} | ${name} |`);
});

types('the page lists every call and every field of a definition', () => {
  const [, definitions = ''] = page.split('### 11.3');
  const [, calls = ''] = page.split('### 11.4');
  for (const field of Object.keys(POLICY_CHECKS)) assert.match(definitions, `\`${field}\``);
  for (const { name } of GOLDEN_CALLS) assert.match(calls, `\`${name.slice('Call '.length)}\``);
});

types.run();
