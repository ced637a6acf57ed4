/**
 * What others wrote (errors of handlers, names of peers) as one line of a terminal. A line break or an escape sequence in it would be
 * taken for ours.
 */
export function plainText(text: string): string {
  return text.replaceAll(NOT_PLAIN, (char) => NAMED[char] ?? `\\u${hex(char)}`);
}

/** Control characters, separators of lines, and marks that turn the direction of what follows. */
const NOT_PLAIN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0');
}
