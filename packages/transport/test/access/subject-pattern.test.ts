import { inspect } from 'node:util';
import { Identity, isSubject, isSubjectPattern, matchesSubject, Secret } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const access = suite('access');

access('knows a subject from everything else', () => {
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

access('matches as NATS does: * is one token, a last > is one or more (A38)', () => {
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

access('forbids what no rule allows, and deny wins', () => {
  const identity = new Identity({
    name: 'ann',
    submit: ['invoice.>'],
    work: ['pdf.*'],
    deny: ['invoice.admin.>'],
  });
  assert.ok(identity.permits('submit', 'invoice.print'));
  assert.not.ok(identity.permits('submit', 'invoice.admin.drop'));
  assert.not.ok(identity.permits('submit', 'mail'));
  assert.not.ok(identity.permits('observe', 'invoice.print'));
  assert.ok(identity.permits('work', 'pdf.merge'));
});

access('refuses rules it does not understand', () => {
  const wrong = [
    { name: 'ann', submit: ['a..b'] },
    { name: 'ann', summit: ['a'] },
    { name: 'ann', roles: ['king'] },
    { name: '' },
    { name: 'ann', deny: ['a.>.b'] },
  ];
  for (const rules of wrong) {
    assert.throws(
      () => new Identity(rules as unknown as { name: string }),
      (error: { code: string }) => error.code === 'ERR_ACCESS_RULE',
    );
  }
});

access('does not show a key', () => {
  const secret = new Secret('ab'.repeat(32));
  for (const shown of [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect(secret, { showHidden: true }),
  ]) {
    assert.not.match(shown, /abab/);
  }
  assert.throws(
    () => new Secret('ab'),
    (error: { code: string }) => error.code === 'ERR_SECRET',
  );
});

access.run();
