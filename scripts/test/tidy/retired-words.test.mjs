import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkCommentSubjects, checkRetiredWords } from '../../tidy/retired-words.mjs';
import { Tree } from '../../tidy/tree.mjs';

const retiredWords = suite('retired words');
const source = 'packages/core/src/mailbox/mailbox.ts';

/** @param {string} text @param {string} [file] */
function found(text, file = source) {
  return checkRetiredWords(Tree.of({ [file]: text })).map((finding) => finding.text);
}

retiredWords('a retired word is found in comments, names and strings, in any spelling', () => {
  for (const text of [
    '// the last voice',
    'class TellFace {}',
    "const x = 'tell-face';",
    'PULSE_MS',
    'voices()',
  ]) {
    assert.is(found(text).length, 1, text);
  }
});

retiredWords('a word that only contains a retired one passes', () => {
  for (const text of ['interface A {}', 'surface', 'impulse', 'reseated'])
    assert.equal(found(text), [], text);
});

retiredWords('a retired word in a file name is found', () => {
  assert.equal(found('', 'packages/jobs/src/leader/voices.ts'), [
    '"voices" in the name is retired: outbound flush',
  ]);
});

retiredWords('a code of a list outside the repository is found, a plain bracket passes', () => {
  for (const text of ['// no wake-up is lost (E2)', '// (A13, A35)', "// the seed's number"]) {
    assert.is(found(text).length, 1, text);
  }
  for (const text of ['f(A1b)', '(B)', 'x(1)']) assert.equal(found(text), [], text);
});

retiredWords('the glossary, the style page and fixtures may name retired words', () => {
  for (const file of ['docs/glossary.md', 'docs/style.md', 'scripts/test/fixtures/a.mjs']) {
    assert.equal(found('voices (E2)', file), [], file);
  }
});

retiredWords('a comment that begins with a pronoun is found at its line', () => {
  const text = 'const a = 1;\n/** Who waits less leaves. */\n// Callers wait; what they wait for is named.\n';
  const findings = checkCommentSubjects(Tree.of({ [source]: text }));
  assert.equal(
    findings.map(({ line }) => line),
    [2],
  );
});

retiredWords.run();
