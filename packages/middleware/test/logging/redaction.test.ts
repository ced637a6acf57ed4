import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Redaction } from '#src/logging/redaction.js';

const redaction = suite('redaction');

redaction('a name is redacted at any depth, a path only at that path', () => {
  const copy = new Redaction(['password', 'card.number', '*.token']).copyOf({
    password: 'a',
    user: { password: 'b', token: 'c', name: 'ann' },
    card: { number: '4111', month: 1 },
    token: 'kept: the path has two parts',
    list: [{ password: 'd' }],
  });
  assert.equal(copy, {
    password: '[redacted]',
    user: { password: '[redacted]', token: '[redacted]', name: 'ann' },
    card: { number: '[redacted]', month: 1 },
    token: 'kept: the path has two parts',
    list: [{ password: '[redacted]' }],
  });
});

redaction('deep, long, large, circular and throwing values are cut', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const redactNone = new Redaction([]);
  assert.ok(JSON.stringify(redactNone.copyOf(circular)).length < 200);
  assert.ok(String(redactNone.copyOf('x'.repeat(10_000))).length < 600);
  assert.ok((redactNone.copyOf(Array(10_000).fill(1)) as unknown[]).length <= 51);
  assert.is(redactNone.copyOf(new Uint8Array(1_000_000)), '[1000000 bytes]');
  const hostile = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error('no');
      },
    },
  );
  assert.is(redactNone.copyOf(hostile), '[a value that cannot be read]');
});

redaction('the original is not changed', () => {
  const payload = { password: 'a', inner: { password: 'b' } };
  new Redaction(['password']).copyOf(payload);
  assert.equal(payload, { password: 'a', inner: { password: 'b' } });
});

redaction.run();
