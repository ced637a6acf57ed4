import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkCycles } from '../../tidy/cycles.mjs';
import { Tree } from '../../tidy/tree.mjs';

const cycles = suite('cycles');
const src = 'packages/core/src';

/** @param {Record<string, string>} files */
function findings(files) {
  return checkCycles(
    Tree.of(Object.fromEntries(Object.entries(files).map(([name, text]) => [`${src}/${name}`, text]))),
  );
}

cycles('two files that import each other are a cycle', () => {
  const found = findings({ 'a.ts': `import { b } from './b.js';`, 'b.ts': `import { a } from './a.js';` });
  assert.equal(
    found.map((finding) => finding.text),
    [`import cycle: ${src}/a.ts → ${src}/b.ts → ${src}/a.ts`],
  );
});

cycles('a longer way round is found from wherever it is entered', () => {
  const found = findings({
    'a.ts': `import { b } from './x/b.js';`,
    'x/b.ts': `export { c } from './c.js';`,
    'x/c.ts': `import { d } from '../d.js';`,
    'd.ts': `import { b } from './x/b.js';`,
  });
  assert.is(found.length, 1);
  assert.match(found[0]?.text ?? '', /x\/b\.ts → .*x\/c\.ts → .*d\.ts → .*x\/b\.ts/);
});

cycles('a diamond is no cycle', () => {
  const found = findings({
    'a.ts': `import { b } from './b.js';\nimport { c } from './c.js';`,
    'b.ts': `import { d } from './d.js';`,
    'c.ts': `import { d } from './d.js';`,
    'd.ts': 'export const d = 1;',
  });
  assert.equal(found, []);
});

cycles('types that point back are no cycle', () => {
  const found = findings({
    'a.ts': `import { b } from './b.js';`,
    'b.ts': `import type { A } from './a.js';`,
  });
  assert.equal(found, []);
});

cycles.run();
