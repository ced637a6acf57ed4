// Enough of a lexer for TypeScript to tell code from comments and strings. It keeps every line where it was, so that
// positions in the masked texts are positions in the file.

/**
 * @typedef {object} SourceText
 * @property {string} code comments and the contents of strings and regular expressions are blanks
 * @property {string} withStrings only comments are blanks
 */

const regexMayFollow =
  /(^|[-+*/%&|^!~<>=?:;,([{}]|\b(return|typeof|case|of|in|do|else|void|delete|throw|await|yield))$/;

/** @param {string} text @returns {SourceText} */
export function readSource(text) {
  const code = [...text];
  const withStrings = [...text];
  const chars = code.slice();
  let at = 0;
  /** Brace depth at which each open template's expression ends. @type {number[]} */
  const templates = [];
  let depth = 0;

  const blank = (/** @type {string[]} */ target, /** @type {number} */ from, /** @type {number} */ to) => {
    for (let index = from; index < to; index += 1) if (target[index] !== '\n') target[index] = ' ';
  };
  const skipTo = (/** @type {number} */ end, /** @type {boolean} */ isComment) => {
    const [from, to] = isComment ? [at, end] : [at + 1, end - 1];
    blank(code, from, to);
    if (isComment) blank(withStrings, from, to);
    at = end;
  };
  const template = () => {
    let end = at + 1;
    while (end < chars.length && chars[end] !== '`' && !(chars[end] === '$' && chars[end + 1] === '{')) {
      end += chars[end] === '\\' ? 2 : 1;
    }
    if (chars[end] === '$') {
      templates.push(depth);
      end += 1;
    }
    skipTo(Math.min(end + 1, chars.length), false);
  };

  while (at < chars.length) {
    const char = chars[at];
    const next = chars[at + 1];
    if (char === '/' && next === '/') skipTo(endOfLine(chars, at), true);
    else if (char === '/' && next === '*') skipTo(endOfBlock(chars, at), true);
    else if (char === "'" || char === '"') skipTo(endOfString(chars, at), false);
    else if (char === '`') template();
    else if (char === '/' && regexMayFollow.test(lineBefore(code, at))) skipTo(endOfRegex(chars, at), false);
    else if (char === '}' && templates.at(-1) === depth) {
      templates.pop();
      template();
    } else {
      if (char === '{') depth += 1;
      if (char === '}') depth -= 1;
      at += 1;
    }
  }
  return { code: code.join(''), withStrings: withStrings.join('') };
}

/** @param {string[]} chars @param {number} at */
function endOfLine(chars, at) {
  const end = chars.indexOf('\n', at);
  return end === -1 ? chars.length : end;
}

/** @param {string[]} chars @param {number} at */
function endOfBlock(chars, at) {
  let end = at + 2;
  while (end < chars.length && !(chars[end] === '*' && chars[end + 1] === '/')) end += 1;
  return Math.min(end + 2, chars.length);
}

/** @param {string[]} chars @param {number} at */
function endOfString(chars, at) {
  let end = at + 1;
  while (end < chars.length && chars[end] !== chars[at] && chars[end] !== '\n')
    end += chars[end] === '\\' ? 2 : 1;
  return Math.min(end + 1, chars.length);
}

/** @param {string[]} chars @param {number} at */
function endOfRegex(chars, at) {
  let end = at + 1;
  let inClass = false;
  while (end < chars.length && chars[end] !== '\n' && (inClass || chars[end] !== '/')) {
    if (chars[end] === '[') inClass = true;
    if (chars[end] === ']') inClass = false;
    end += chars[end] === '\\' ? 2 : 1;
  }
  return Math.min(end + 1, chars.length);
}

/** The text before a position on its line, or on the last line with code: enough to tell a division from a regular expression. */
/** @param {string[]} code @param {number} at */
function lineBefore(code, at) {
  let end = at;
  while (end > 0 && /\s/.test(code[end - 1] ?? '')) end -= 1;
  return code.slice(Math.max(0, end - 12), end).join('');
}

/** @param {string} text @param {number} at @returns {number} counted from 1 */
export function lineAt(text, at) {
  let line = 1;
  for (let index = text.indexOf('\n'); index !== -1 && index < at; index = text.indexOf('\n', index + 1))
    line += 1;
  return line;
}
