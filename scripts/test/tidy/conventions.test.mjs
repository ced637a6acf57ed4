import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkConventions, fullFolders } from '../../tidy/conventions.mjs';
import { Tree } from '../../tidy/tree.mjs';

const conventions = suite('conventions');

/** @param {string} text */
function found(text) {
  return checkConventions(Tree.of({ 'packages/wal/src/log/log.ts': text })).length;
}

conventions('a #private member is found where it is declared and where it is used', () => {
  assert.is(found('class A {\n  #size = 0;\n}'), 1);
  assert.is(found('class A {\n  #grow(): void {}\n}'), 1);
  assert.is(found('this.#size;'), 1);
  assert.is(found('class A {\n  private size = 0;\n}'), 0);
  assert.is(found("const path = '#src/log.js';"), 0);
});

conventions('a callback whose absent error is undefined is found', () => {
  assert.is(found('type Done = (error: Error | undefined, value: string) => void;'), 1);
  assert.is(found('type Done = (error: Error | null, value: string) => void;'), 0);
  assert.is(found('interface State { error: Error | undefined }'), 0);
});

conventions('a message that is a function is found, and a product mailbox that grows', () => {
  /** @param {string} file @param {string} text */
  const count = (file, text) => checkConventions(Tree.of({ [file]: text })).length;
  const actor = 'packages/jobs/src/worker/worker-actor.ts';
  assert.is(count(actor, 'interface P {\n  run(task: () => void): void;\n}'), 1);
  assert.is(count(actor, 'interface P {\n  tick(): void;\n}'), 0);
  assert.is(count('packages/jobs/src/jobs-host.ts', 'interface H {\n  soon(run: () => void): void;\n}'), 0);
  assert.is(count(actor, "const spec = { mailbox: { capacity: 9, overflow: 'grow' } };"), 1);
  assert.is(count(actor, "const spec = { mailbox: { capacity: 9, overflow: 'reject' } };"), 0);
});

conventions('a comment wider than the formatter allows is found', () => {
  assert.is(found(`// ${'x'.repeat(107)}`), 0);
  assert.is(found(`// ${'x'.repeat(108)}`), 1);
});

conventions('a folder of more than twelve files is listed', () => {
  const files = Array.from({ length: 13 }, (_, at) => [`packages/wal/src/log/f${at}.ts`, '']);
  assert.is(fullFolders(Tree.of(Object.fromEntries(files))).length, 1);
  assert.is(fullFolders(Tree.of(Object.fromEntries(files.slice(1)))).length, 0);
});

conventions.run();
