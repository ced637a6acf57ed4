import { escapeControlCharacters } from '../output/text/escape-control-characters.js';

export type Style = 'plain' | 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'selected';

/** A piece of a line in one style. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
}

export type ScreenLine = readonly Piece[];

const CODES: Readonly<Record<Style, string>> = {
  plain: '',
  bold: '1',
  dim: '2',
  red: '31',
  green: '32',
  yellow: '33',
  cyan: '36',
  selected: '7',
};

export function piece(text: string, style: Style = 'plain'): Piece {
  return { text, style };
}

export function line(...pieces: readonly (Piece | string)[]): ScreenLine {
  return pieces.map((one) => (typeof one === 'string' ? piece(one) : one));
}

/** A line as text, cut at the width. Text of other processes cannot move the cursor. */
export function renderLine(
  pieces: ScreenLine,
  width: number,
  { isColoured }: { isColoured: boolean },
): string {
  let left = width;
  let text = '';
  for (const { text: whole, style } of pieces) {
    const shown = [...escapeControlCharacters(whole)].slice(0, left).join('');
    left -= [...shown].length;
    const code = CODES[style];
    text += isColoured && code !== '' && shown !== '' ? `\u001b[${code}m${shown}\u001b[0m` : shown;
  }
  return text;
}
