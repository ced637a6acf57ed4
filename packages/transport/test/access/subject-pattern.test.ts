import { isSubject, isSubjectPattern, matchesSubject, subjectTokenOf } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const subjects = suite('subject pattern');

subjects('a subject is 1 to 16 tokens of up to 64 characters, 255 in total', () => {
  const good = [
    'a',
    'job.submit.mail',
    'A-b_9',
    Array.from({ length: 16 }, () => 'x').join('.'),
    'a'.repeat(64),
  ];
  const bad = [
    '',
    '.',
    'a.',
    '.a',
    'a..b',
    'a b',
    'a.*',
    '>',
    'ä',
    'a'.repeat(65),
    Array.from({ length: 17 }, () => 'x').join('.'),
  ];
  for (const text of good) assert.ok(isSubject(text), text);
  for (const text of bad) assert.not.ok(isSubject(text), text);
  assert.not.ok(
    isSubject(`${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(64)}`),
    '256 characters',
  );
});

subjects('`*` matches one token, a last `>` one or more, as in NATS', () => {
  const table: readonly (readonly [string, string, boolean])[] = [
    ['job.assign.calcA', 'job.assign.calcA', true],
    ['job.assign.*', 'job.assign.calcA', true],
    ['job.assign.calcA.*', 'job.assign.calcA', false],
    ['job.assign.calcA.>', 'job.assign.calcA', false],
    ['job.assign.>', 'job.assign.calcA.w1', true],
    ['>', 'a', true],
    ['*', 'a.b', false],
    ['*.*', 'a.b', true],
    ['a.*.c', 'a.b.c', true],
    ['a.*.c', 'a.b.d', false],
    ['a.b', 'a.bc', false],
    ['a.bc', 'a.b', false],
    ['a', 'a.b', false],
    ['a.b', 'a', false],
    ['Job', 'job', false],
  ];
  for (const [pattern, subject, expected] of table)
    assert.is(matchesSubject(pattern, subject), expected, `${pattern} ${subject}`);
  assert.ok(isSubjectPattern('a.*.>'));
  for (const wrong of ['', '>.a', 'a*', 'a.>b', 'a..*']) assert.not.ok(isSubjectPattern(wrong), wrong);
});

subjects('a name with other characters becomes one token of a subject', () => {
  assert.is(subjectTokenOf('ann/worker.1'), 'ann_worker_1');
  assert.ok(matchesSubject('job.assign.*.*', `job.assign.mail.${subjectTokenOf('ann/worker.1')}`));
});

subjects.run();
