/**
 * Text of other processes (errors of handlers, names of peers) as one line of a terminal: a line break or an
 * escape sequence in it would be taken for output of this command.
 */
export function escapeControlCharacters(text: string): string {
  return text.replaceAll(NOT_PLAIN, (char) => NAMED[char] ?? `\\u${hex(char)}`);
}

/**
 * Control characters, line separators, and all format characters: marks that change the direction of text,
 * and characters without a shape, which make two different names look the same.
 */
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function hex(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return code > 0xffff ? `{${code.toString(16)}}` : code.toString(16).padStart(4, '0');
}
