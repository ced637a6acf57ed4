import { UsageError } from '../runner/usage-error.js';

/**
 * Replaces the text between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` of a page by a generated table.
 */
export function replaceBlock(page: string, name: string, block: string): string {
  const open = `<!-- bench:${name} -->`;
  const close = `<!-- /bench:${name} -->`;
  const from = page.indexOf(open);
  const to = page.indexOf(close);
  if (from === -1 || to < from) throw new UsageError(`the page has no '${open}' followed by '${close}'`);
  return `${page.slice(0, from + open.length)}\n${block.trim()}\n${page.slice(to)}`;
}
