import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isSubjectPattern, subjectMatches } from '#src/job/subject.js';

const subject = suite('subject');

// A38: the meaning of NATS, not of the seed.
subject('a star is one token, an arrow is one or more at the end', () => {
  const table: [string, string, boolean][] = [
    ['job.assign.media.*', 'job.assign.media.w1', true],
    ['job.assign.media.*', 'job.assign.media', false],
    ['job.assign.media.*', 'job.assign.media.w1.x', false],
    ['job.assign.>', 'job.assign.media.w1', true],
    ['job.assign.>', 'job.assign', false],
    ['job.*.media.w1', 'job.assign.media.w1', true],
    ['>', 'job', true],
    ['job.assign.media.w1', 'job.assign.media.w1', true],
    ['job.assign.Media.w1', 'job.assign.media.w1', false],
    ['job.>.w1', 'job.assign.w1', false],
  ];
  for (const [pattern, text, matches] of table)
    assert.is(subjectMatches(pattern, text), matches, `${pattern} ${text}`);
});

subject('patterns with empty tokens or misplaced wildcards are not patterns', () => {
  for (const pattern of ['', '.', 'a..b', 'a.b*', '>.a', 'a.>b', 'a b', 'x'.repeat(600)]) {
    assert.not(isSubjectPattern(pattern), pattern);
  }
  for (const pattern of ['>', '*', 'job.assign.>', 'a.*.c']) assert.ok(isSubjectPattern(pattern), pattern);
});

subject.run();
