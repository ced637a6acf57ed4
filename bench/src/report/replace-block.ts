import { UsageError } from '../runner/usage-error.js';

/**
 * Puts a generated table between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` of a page, so that no figure in the
 * docs is ever typed by hand.
 */
export function replaceBlock(page: string, name: string, block: string): string {
  const open = `<!-- bench:${name} -->`;
  const close = `<!-- /bench:${name} -->`;
  const from = page.indexOf(open);
  const to = page.indexOf(close);
  if (from === -1 || to < from) throw new UsageError(`the page has no '${open}' followed by '${close}'`);
  return `${page.slice(0, from + open.length)}\n${block.trim()}\n${page.slice(to)}`;
}
