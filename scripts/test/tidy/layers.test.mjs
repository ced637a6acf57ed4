import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkLayers } from '../../tidy/layers.mjs';
import { Tree } from '../../tidy/tree.mjs';

const layers = suite('layers');

/** @param {string} file @param {string} text */
function findings(file, text) {
  return checkLayers(Tree.of({ [file]: text })).map((finding) => finding.text);
}

layers('a package imports what its row lists, node and tslib', () => {
  const text = `import { a } from '@troupe/core';\nimport { b } from '@troupe/core/testing';\nimport c from 'node:zlib';\nimport 'tslib';`;
  assert.equal(findings('packages/wal/src/log.ts', text), []);
});

layers('a package may not import what its row does not list, not even its types', () => {
  const upward = findings('packages/core/src/system.ts', `import type { Wal } from '@troupe/wal';`);
  assert.equal(upward, ['core may not import @troupe/wal: only node:* and tslib']);
  const outside = findings('packages/wal/src/log.ts', `import { Heap } from 'mnemonist';`);
  assert.equal(outside, ['wal may not import mnemonist: only @troupe/core']);
});

layers('only middleware imports OpenTelemetry', () => {
  const text = `import { trace } from '@opentelemetry/api';`;
  assert.equal(findings('packages/middleware/src/telemetry.ts', text), []);
  assert.is(findings('packages/jobs/src/leader/leader.ts', text).length, 1);
});

layers('a package without a row is refused', () => {
  assert.match(findings('packages/extra/src/index.ts', `import { a } from 'mnemonist';`)[0] ?? '', /no row/);
});

layers('a relative import may not leave the package', () => {
  const text = `export { Wal } from '../../wal/src/wal.js';`;
  assert.match(findings('packages/jobs/src/index.ts', text)[0] ?? '', /leaves the package/);
});

layers('sources do not use the import map of the tests', () => {
  assert.match(findings('packages/wal/src/log.ts', `import { a } from '#src/a.js';`)[0] ?? '', /for tests/);
});

layers('a stage of core imports values of lower stages only', () => {
  assert.equal(
    findings(
      'packages/core/src/run-queue/ready-queue-coordinator.ts',
      `import { a } from '../mailbox/mailbox.js';`,
    ),
    [],
  );
  const up = findings('packages/core/src/mailbox/mailbox.ts', `import { a } from '../run-queue/slots.js';`);
  assert.equal(up, ['mailbox may not import values of run-queue: it is not a lower stage']);
  const sibling = findings('packages/core/src/ref/asks.ts', `import { a } from '../define/define-actor.js';`);
  assert.equal(sibling, ['ref may not import values of define: it is not a lower stage']);
});

layers('a stage of core may name the types of a higher stage', () => {
  const types = `import type { A } from '../actor/cell.js';\nimport { type B, type C } from '../system.js';`;
  assert.equal(findings('packages/core/src/mailbox/mailbox.ts', types), []);
  const mixed = `import { type A, b } from '../actor/cell.js';`;
  assert.is(findings('packages/core/src/mailbox/mailbox.ts', mixed).length, 1);
});

layers('a file beside the stages of core imports no stage, but the entry points do', () => {
  const text = `import { a } from './mailbox/mailbox.js';`;
  assert.match(findings('packages/core/src/host.ts', text)[0] ?? '', /serves every stage/);
  assert.equal(findings('packages/core/src/index.ts', text), []);
  assert.equal(
    findings('packages/core/src/testing/probe.ts', `import { a } from '../mailbox/mailbox.js';`),
    [],
  );
});

layers('the roles of jobs do not import each other', () => {
  const text = `import type { Leader } from '../leader/leader.js';`;
  assert.match(findings('packages/jobs/src/worker/worker.ts', text)[0] ?? '', /roles/);
});

layers('an import in a comment or a string is no import', () => {
  const text = `// import { a } from '@troupe/jobs';\nconst text = "import { a } from '@troupe/jobs'";`;
  assert.equal(findings('packages/core/src/message/envelope.ts', text), []);
});

layers('imports that span lines, re-exports and dynamic imports count', () => {
  const text = `import {\n  a,\n  b,\n} from '@troupe/jobs';\nexport { c } from '@troupe/wal';\nconst d = await import('@troupe/transport');`;
  assert.is(findings('packages/core/src/message/envelope.ts', text).length, 3);
});

layers.run();
