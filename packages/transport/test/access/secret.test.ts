import { inspect } from 'node:util';
import { Secret } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const secrets = suite('secret');

secrets('a key is never printed', () => {
  const secret = new Secret('ab'.repeat(32));
  for (const shown of [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect(secret, { showHidden: true }),
    inspect(secret, { customInspect: false, showHidden: true, depth: 9 }),
    JSON.stringify(Object.values(secret)),
  ]) {
    assert.not.match(shown, /abab/);
  }
  assert.throws(
    () => new Secret('ab'),
    (error: { code: string }) => error.code === 'ERR_SECRET',
  );
});

secrets.run();
