import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { JobFrameType } from '#src/wire/job-frame-type.js';

const types = suite('job frame types');

const page = readFileSync(new URL('../../../../docs/wire-protocol.md', import.meta.url), 'utf8');

types('the wire protocol page lists every frame type of jobs under its number', () => {
  for (const [name, type] of Object.entries(JobFrameType)) assert.match(page, `| ${type} | ${name} |`);
});

types.run();
