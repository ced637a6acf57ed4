import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { generateReference } from '../../reference/generate-reference.mjs';
import { Tree } from '../../tidy/tree.mjs';

const reference = suite('defaults in the reference');

const page = {
  name: 'mail',
  title: 'Mail',
  about: '',
  entries: ['packages/mail/src/index.ts'],
  guides: [],
  sources: [],
  parts: [{ kind: /** @type {const} */ ('options'), type: 'MailOptions' }],
};

/** @param {string} members @param {string} code */
function pageOf(members, code) {
  const tree = Tree.of({
    'docs/errors.md': '',
    'packages/mail/src/index.ts': "export type { MailOptions } from './mail.js';",
    'packages/mail/src/mail.ts': `export interface MailOptions {\n${members}\n}\n${code}`,
  });
  const { texts, findings } = generateReference(tree, [page]);
  return { text: texts.get('docs/reference/mail.md') ?? '', findings: findings.map(({ text }) => text) };
}

const RULES = 'const RULES = { partsMax: wholeNumber(1, 100), bytesMax: wholeNumber(1) };\n';

reference('an option has its default, its unit and its bounds', () => {
  const { text, findings } = pageOf(
    `  /** Parts of a mail. Default 20. */
  readonly partsMax?: number;
  /** The largest part. Default 4 MiB, at most that of the server. */
  readonly bytesMax?: number;`,
    `${RULES}const MIB = 1024 * 1024;
const read = ({ partsMax = 20, ...given }: MailOptions) => [partsMax, given.bytesMax ?? Math.min(4 * MIB, all)];`,
  );
  assert.equal(findings, []);
  assert.match(text, '| `partsMax` | `number` | 20 | 1 to 100 | Parts of a mail. |');
  assert.match(
    text,
    '| `bytesMax` | `number`, bytes | 4 MiB, at most that of the server | ≥ 1 B | The largest part. |',
  );
});

reference('a default that the code does not have is reported', () => {
  const member = '  /** Parts of a mail. Default 20. */\n  readonly partsMax?: number;';
  assert.equal(pageOf(member, `${RULES}const read = ({ partsMax = 30 }) => partsMax;`).findings, [
    'MailOptions.partsMax: the comment says Default 20, the code has 30',
  ]);
  assert.equal(pageOf(member, RULES).findings, [
    'MailOptions.partsMax: the comment says Default 20, the code has no such value',
  ]);
});

reference('a word and a flag are compared where the code names a value', () => {
  const members =
    '  /** Its form. Default `html`. */\n  readonly form?: string;\n  /** At once. Default false. */\n  readonly now?: boolean;';
  assert.equal(pageOf(members, '').findings, []);
  assert.equal(pageOf(members, "const DEFAULTS = { form: 'text', now: true };").findings, [
    'MailOptions.form: the comment says Default html, the code has text',
    'MailOptions.now: the comment says Default false, the code has true',
  ]);
});

reference('an option without a comment, a default or a bound is reported', () => {
  assert.equal(pageOf('  readonly partsMax?: number;', '').findings, [
    'MailOptions.partsMax has no comment',
    'MailOptions.partsMax has no default: its comment needs a sentence "Default …."',
    'MailOptions.partsMax: no rule bounds it',
  ]);
});

reference.run();
