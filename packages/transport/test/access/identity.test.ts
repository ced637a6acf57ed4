import { Identity, IdentityStore } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const identities = suite('identity');

identities('an action without a rule is forbidden, and `deny` overrides the others', () => {
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

identities('unknown and malformed rules are refused', () => {
  const wrong = [
    { name: 'ann', submit: ['a..b'] },
    { name: 'ann', summit: ['a'] },
    { name: 'ann', roles: ['king'] },
    { name: '' },
    { name: 'ann', deny: ['a.>.b'] },
    { name: 'ann', submit: 'a' },
    { name: 5 },
    {},
  ];
  for (const rules of wrong) {
    assert.throws(
      () => new Identity(rules as unknown as { name: string }),
      (error: { code: string }) => error.code === 'ERR_ACCESS_RULE',
    );
  }
});

identities('a misplaced key is not printed', () => {
  const key = '11'.repeat(32);
  assert.throws(
    () => new Identity({ name: 'ann', key } as unknown as { name: string }),
    (error: Error) => error.message === 'access rules: identity.key: there is no such option',
  );
});

identities('names, key ids and certificates are unique in a store', () => {
  const key = '11'.repeat(32);
  const wrong = [
    [{ name: 'ann' }, { name: 'ann' }],
    [
      { name: 'ann', keys: [{ id: 'k', key }] },
      { name: 'bob', keys: [{ id: 'k', key }] },
    ],
    [
      { name: 'ann', certificate: 'urn:x' },
      { name: 'bob', certificate: 'urn:x' },
    ],
    [{ name: 'ann', keys: [{ id: 'not a key id', key }] }],
  ];
  for (const entries of wrong)
    assert.throws(
      () => new IdentityStore(entries),
      (error: { code: string }) => error.code === 'ERR_ACCESS_RULE',
    );
});

identities.run();
