import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Redaction } from '#src/logging/redaction.js';

const redaction = suite('redaction');

redaction('a name is redacted wherever it stands, a path only where it leads', () => {
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

redaction('what is deep, long, large, circular or hostile is cut instead of written down', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const all = new Redaction([]);
  assert.ok(JSON.stringify(all.copyOf(circular)).length < 200);
  assert.ok(String(all.copyOf('x'.repeat(10_000))).length < 600);
  assert.ok((all.copyOf(Array(10_000).fill(1)) as unknown[]).length <= 51);
  assert.is(all.copyOf(new Uint8Array(1_000_000)), '[1000000 bytes]');
  const hostile = new Proxy(
    {},
    {
      ownKeys() {
        throw new Error('no');
      },
    },
  );
  assert.is(all.copyOf(hostile), '[a value that cannot be looked at]');
});

redaction('the original stays as it was', () => {
  const payload = { password: 'a', inner: { password: 'b' } };
  new Redaction(['password']).copyOf(payload);
  assert.equal(payload, { password: 'a', inner: { password: 'b' } });
});

redaction.run();
