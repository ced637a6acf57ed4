import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { longOnes } from '../../tidy/lengths.mjs';
import { lineAt, readSource } from '../../tidy/source-text.mjs';
import { Tree } from '../../tidy/tree.mjs';

const sourceText = suite('source text');

const cases = [
  ['a; // b', 'a;     '],
  ['a /* b\nc */ d', 'a     \n     d'],
  [`f('it\\'s', "x")`, `f('     ', " ")`],
  ['`a ${b("c")} d`', '`    b(" ")}  `'],
  ['`a ${ {b: `${c}`} } d`', '`     {b: `  c}`} }  `'],
  ['a = b / c / d;', 'a = b / c / d;'],
  ['a = /[/"]+/g.test(b)', 'a = /     /g.test(b)'],
  ['return /"/;', 'return / /;'],
];

for (const [text = '', expected = ''] of cases) {
  sourceText(`masks ${text}`, () => {
    const { code } = readSource(text);
    assert.is(code.length, text.length);
    assert.is(
      code.replaceAll('$', ' ').replaceAll('{', ' '),
      expected.replaceAll('$', ' ').replaceAll('{', ' '),
    );
  });
}

sourceText('lines stay where they are', () => {
  const text = `const a = \`\n\n\`; /*\n*/ b();`;
  const { code } = readSource(text);
  assert.is(lineAt(code, code.indexOf('b()')), 4);
});

sourceText('long files and functions are measured in code, not in strings', () => {
  const body = '  call();\n'.repeat(70);
  const text = `const s = '{{{';\nexport function long(a: { b: number }): void {\n${body}}\nclass A {\n  short(): void {\n    f();\n  }\n}\n`;
  const found = longOnes(Tree.of({ 'packages/core/src/a.ts': text }));
  assert.equal(found, [{ file: 'packages/core/src/a.ts', line: 2, text: 'long is 72 lines' }]);
  const file = longOnes(Tree.of({ 'packages/core/src/a.ts': 'x;\n'.repeat(251) }));
  assert.equal(file, [{ file: 'packages/core/src/a.ts', text: '251 lines' }]);
});

sourceText.run();
