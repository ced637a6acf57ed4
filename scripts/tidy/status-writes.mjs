// The status word of a mailbox is written by named methods of Mailbox. Two files write it themselves, because they run
// per message.
import { lineAt } from './source-text.mjs';

const core = /^packages\/core\/src\/.*\.ts$/;
const writers = [
  'packages/core/src/mailbox/mailbox.ts',
  'packages/core/src/mailbox/delivery.ts',
  'packages/core/src/invoker/message-invoker.ts',
];
const write =
  /\.\s*status\s*(?:[|&^+*/%-]|<<|>>>?|\*\*|\|\||&&|\?\?)?=(?![=>])|(?:\+\+|--)\s*[\w.]+\.status\b|\.status\s*(?:\+\+|--)/g;

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function checkStatusWrites(tree) {
  return tree
    .paths(core)
    .filter((file) => !writers.includes(file))
    .flatMap((file) => {
      const { code } = tree.source(file);
      return [...code.matchAll(write)].map((match) => ({
        file,
        line: lineAt(code, match.index),
        text: 'writes a status word: give Mailbox a method that names the transition',
      }));
    });
}
