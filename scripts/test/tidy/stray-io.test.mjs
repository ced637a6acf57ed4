import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkStrayIo } from '../../tidy/stray-io.mjs';
import { Tree } from '../../tidy/tree.mjs';

const strayIo = suite('stray I/O');

/** @param {string} text @param {string} [file] */
function count(text, file = 'packages/wal/src/log.ts') {
  return checkStrayIo(Tree.of({ [file]: text })).length;
}

const forbidden = [
  'const t = Date.now();',
  'const t = new Date();',
  'const t = new Date;',
  'const t = Date();',
  'const t = performance.now();',
  'const r = Math.random();',
  `import { randomUUID } from 'node:crypto';`,
  'setTimeout(tick, 10);',
  'const timer = globalThis.setInterval(tick, 10);',
  'const later = setImmediate;',
  `import { createServer } from 'node:net';`,
  `import * as fs from 'node:fs/promises';`,
  `const tls = await import('node:tls');`,
  'process.exit(74);',
  'console.log(1);',
  `await fetch('http://localhost');`,
  'const text = `at ${Date.now()}`;',
];

for (const text of forbidden) {
  strayIo(`finds ${text}`, () => assert.is(count(text), 1));
}

const allowed = [
  'const t = new Date(ms).toISOString();',
  'const t = Date.UTC(2026, 0);',
  'const when: Date = schedule.next;',
  'socket.setTimeout(0);',
  'this.#setTimeout(0);',
  `import { crc32 } from 'node:zlib';`,
  `import { createHmac } from 'node:crypto';`,
  `import type { Socket } from 'node:net';`,
  '// Date.now() would break the simulator.',
  `const text = 'Math.random()';`,
  'const pattern = /setTimeout(x)/;',
];

for (const text of allowed) {
  strayIo(`lets ${text} pass`, () => assert.is(count(text), 0));
}

strayIo('host files, host folders and fakes may touch the real thing', () => {
  for (const place of ['node-storage.ts', 'storage/node-files.ts', 'host/files.ts', 'testing/disk.ts']) {
    assert.is(count('const t = Date.now();', `packages/wal/src/${place}`), 0, place);
  }
  assert.is(count('const t = Date.now();', 'packages/wal/src/anode-clock.ts'), 1);
});

strayIo('packages without a host port are not concerned', () => {
  assert.is(count('const t = Date.now();', 'packages/cli/src/main.ts'), 0);
});

strayIo.run();
