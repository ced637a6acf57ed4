/**
 * Text of other processes (errors of handlers, names of peers) as one line of a terminal: a line break or an
 * escape sequence in it would be taken for output of this command.
 */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll(NOT_PLAIN, (char) => NAMED[char] ?? `\\u${hex(char)}`);
}

/** Control characters, line separators, and marks that change the direction of text. */
const NOT_PLAIN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(4, '0');
}
