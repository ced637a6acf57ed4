import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { generateReference } from '../../reference/generate-reference.mjs';
import { valueText } from '../../reference/unit-text.mjs';
import { Tree } from '../../tidy/tree.mjs';

const reference = suite('reference');

const source = `
import { wholeNumber, text } from '@troupe/core/option-check';
const MIB = 1024 * 1024;
export interface BoxOptions {
  /** Longest wait. Default 5,000. */
  readonly waitMs?: number | undefined;
  /** The name; default \`box\`. */
  readonly name?: string | undefined;
  /** Room. Default 2 MiB. */
  readonly roomBytes: number;
}
const RULES = { waitMs: wholeNumber(1, 60_000), name: text(64), roomBytes: wholeNumber(1, 8 * MIB) };
const DEFAULTS = { waitMs: 5_000, name: 'box', roomBytes: 2 * MIB };
/** Events of a box. */
export type BoxEvent =
  /** It is full. */
  | { readonly kind: 'full'; readonly bytes: number };
/** A box. */
export class Box {
  /** Puts one thing into it; undefined when there was no room. */
  put(thing: string, within?: number): number | undefined { return within; }
  private hidden(): void {}
}
/**
 * The latch of a box.
 *
 *   open          things go in
 *   { shut, by }  by this hand
 */
export type Latch = 'open' | { readonly shut: true; readonly by: string };
`;

/** @param {Record<string, string>} [more] @param {string} [text] */
function generated(more = {}, text = source) {
  const page = {
    name: 'box',
    title: 'Box',
    about: 'boxes',
    entries: ['packages/box/src/index.ts'],
    guides: [],
    sources: ['packages/box/src'],
    parts: /** @type {const} */ ([
      { kind: 'options', type: 'BoxOptions' },
      { kind: 'events', type: 'BoxEvent' },
      { kind: 'members', type: 'Box' },
      { kind: 'choices', type: 'Latch' },
    ]),
  };
  const tree = Tree.of({
    'packages/box/src/index.ts':
      "export { Box, type BoxEvent, type BoxOptions, type Latch } from './box.js';",
    'packages/box/src/box.ts': text,
    ...more,
  });
  const { texts, findings } = generateReference(tree, [page]);
  return { page: texts.get('docs/reference/box.md') ?? '', findings, texts };
}

reference(
  'an option has its unit from its name, its default from its comment, its bounds from its rule',
  () => {
    const { page, findings } = generated();
    assert.match(page, '| `waitMs` | `number`, ms | 5 s | 1 ms to 1 min | Longest wait. |');
    assert.match(page, '| `name` | `string` | `box` | 1 to 64 bytes of text | The name. |');
    assert.match(page, '| `roomBytes` | `number`, bytes | 2 MiB | 1 B to 8 MiB | Room. |');
    assert.equal(findings, []);
  },
);

reference('each overload of a member has its row', () => {
  const put = / {2}\/\*\* Puts one[^}]+}/;
  const overloads =
    '  /** Puts a thing. */\n  put(thing: string): number;\n  /** Puts two. */\n  put(a: string, b: string): number;';
  const { page } = generated({}, source.replace('class Box', 'interface Box').replace(put, overloads));
  assert.match(page, '| `put(thing: string): number` | Puts a thing. |');
  assert.match(page, '| `put(a: string, b: string): number` | Puts two. |');
});

reference('the values of a choice are listed, and one without a word about them is reported', () => {
  const { page } = generated();
  assert.match(page, '| `open` | things go in |');
  assert.match(page, '| `{ shut, by }` | by this hand |');
  const { findings } = generated({}, source.replace(/ \*\n \* {2}[^*]+\*[^*]+\*\//, ' */'));
  assert.equal(
    findings.map(({ text }) => text),
    ['the values of Latch have no comment'],
  );
});

reference('a default that is an empty list reads none', () => {
  assert.is(valueText([], undefined), 'none');
  assert.is(valueText([5, 10], 'ms'), '5 ms, 10 ms');
});

reference(
  'an event is listed with its fields, a member with its signature; private members are left out',
  () => {
    const { page } = generated();
    assert.match(page, "| `'full'` | `bytes: number` | It is full. |");
    assert.match(
      page,
      '| `put(thing: string, within?: number): number \\| undefined` | Puts one thing into it',
    );
    assert.not.match(page, 'hidden');
  },
);

reference('an option without a default, one without a comment and an event without one are found', () => {
  const text = source.replace(' Default 5,000.', '').replace('/** It is full. */', '');
  const found = generated({}, text).findings.map((finding) => `${finding.line} ${finding.text}`);
  assert.is(found.length, 2);
  assert.match(found[0] ?? '', 'BoxOptions.waitMs has no default');
  assert.match(found[1] ?? '', "the event 'full' has no comment");
  const bare = generated({}, source.replace('/** Longest wait. Default 5,000. */', '')).findings;
  assert.match(bare[0]?.text ?? '', 'BoxOptions.waitMs has no comment');
});

reference('exported options that no page shows are found', () => {
  const entry = "export type { BoxOptions } from './box.js';\nexport type { LidOptions } from './lid.js';";
  const { findings } = generated({
    'packages/box/src/index.ts': `${entry}\nexport { Box, type BoxEvent, type Latch } from './box.js';`,
    'packages/box/src/lid.ts': 'export interface LidOptions {}',
  });
  assert.equal(
    findings.map(({ text }) => text),
    ['LidOptions has no part in scripts/reference/pages.mjs'],
  );
});

reference('exported functions and things with methods that no page shows are found', () => {
  const { findings } = generated({
    'packages/box/src/index.ts': [
      "export { Box, type BoxEvent, type BoxOptions, type Latch } from './box.js';",
      "export { fill, Lid, LidError, type Hinge, type Size } from './lid.js';",
    ].join('\n'),
    'packages/box/src/lid.ts': [
      'export function fill(): void {}',
      'export class Lid { open(): void {} }',
      'export class LidError extends Error { explain(): void {} }',
      'export interface Hinge { turn(): void }',
      'export interface Size { readonly width: number }',
    ].join('\n'),
  });
  const missing = findings.map(({ text }) => text.split(' ')[0]).sort();
  assert.equal(missing, ['Hinge', 'Lid', 'fill']);
});

reference('an error is at the page whose sources make it', () => {
  const { texts } = generated({
    'docs/errors.md': '### ERR_BOX_FULL\n\nFull.\n',
    'packages/box/src/box-error.ts': "export class FullError extends Error { code = 'ERR_BOX_FULL'; }",
    'packages/box/src/put.ts': 'throw new FullError();',
  });
  assert.match(
    texts.get('docs/reference/errors.md') ?? '',
    '[ERR_BOX_FULL](../errors.md#err_box_full) | [Box](box.md) |',
  );
});

reference.run();
