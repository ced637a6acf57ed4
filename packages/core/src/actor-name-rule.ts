import { type OptionRule, rule } from './option-check.js';

const LEGAL = /^[A-Za-z0-9_.:@-]{1,128}$/;
const ILLEGAL_IN_NAME = /[^A-Za-z0-9_.:@-]+/g;
/** Leaves room for a number behind it. */
const LEGAL_NAME_MAX = 100;

export const NAME_RULE = '1 to 128 letters, digits or _ . : @ -';

/** Names become parts of paths, so they have no slash and no character that disturbs a terminal or a log. */
export function isLegalName(name: unknown): name is string {
  return typeof name === 'string' && LEGAL.test(name);
}

const PATH_RULE = 'names with a / between them';

function isLegalPath(path: unknown): path is string {
  if (typeof path !== 'string') return false;
  const parts = path.startsWith('/') ? path.slice(1) : path;
  return parts.split('/').every((part) => isLegalName(part));
}

/** Any text as a legal name: every run of other characters is one hyphen. */
export function legalNameOf(text: string): string {
  return text.slice(0, LEGAL_NAME_MAX).replace(ILLEGAL_IN_NAME, '-');
}

export const actorName: OptionRule = rule(NAME_RULE, isLegalName);

export const actorPath: OptionRule = rule(PATH_RULE, isLegalPath);
