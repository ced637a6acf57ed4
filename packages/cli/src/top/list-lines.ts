import { line, piece, type ScreenLine, type Style } from './screen-line.js';

/** The rows around the selected one, below their title and head; `-1` selects none. */
export function listLines(
  title: string,
  [head = '', ...rows]: readonly string[],
  selected: number,
  room: number,
  none: string,
): ScreenLine[] {
  if (rows.length === 0) return [line(piece(title, 'bold')), line(piece(none, 'dim'))];
  const fits = Math.max(1, room - 2);
  const at = Math.min(Math.max(selected, 0), rows.length - 1);
  const first = Math.max(0, Math.min(at - Math.floor(fits / 2), rows.length - fits));
  const shown = rows.slice(first, first + fits);
  const more = rows.length > fits ? ` (${rows.length})` : '';
  return [
    line(piece(`${title}${more}`, 'bold')),
    line(piece(head, 'dim')),
    ...shown.map((text, i) =>
      line(piece(text, first + i === at && selected >= 0 ? 'selected' : styleOf(text))),
    ),
  ];
}

/** A text over as many lines as it needs; all but the first are indented. */
export function wrapped(text: string, width: number, indent: number, style: Style = 'plain'): ScreenLine[] {
  const lines: string[] = [];
  let left = [...text];
  while (left.length > 0) {
    const margin = lines.length === 0 ? 0 : indent;
    const room = Math.max(8, width - margin);
    const end = left.length <= room ? left.length : endOfLine(left, room);
    lines.push(`${' '.repeat(margin)}${left.slice(0, end).join('').trimEnd()}`);
    left = left.slice(end);
    while (left[0] === ' ') left.shift();
  }
  return lines.map((one) => line(piece(one, style)));
}

/** Behind the last blank of the room; a word that is longer is cut. */
function endOfLine(text: readonly string[], room: number): number {
  const blank = text.lastIndexOf(' ', room);
  return blank > room / 3 ? blank : room;
}

function styleOf(row: string): Style {
  if (/ blocked for /.test(row)) return 'red';
  return / gone /.test(row) ? 'dim' : 'plain';
}
