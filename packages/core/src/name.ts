const LEGAL = /^[A-Za-z0-9_.:@-]{1,128}$/;

export const NAME_RULE = 'needed 1 to 128 letters, digits or _ . : @ -';

/** Names become parts of paths, so they have no slash and nothing that a terminal or a log could trip over. */
export function isLegalName(name: unknown): name is string {
  return typeof name === 'string' && LEGAL.test(name);
}
