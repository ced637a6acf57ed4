import type { Ring } from '../../collections/ring.js';

/**
 * Jobs in front of this one that still wait; -1: it is not in the line. `gone`: how many of the line do not
 * wait any more.
 */
export function placeInLine(
  line: Ring<number>,
  no: number,
  gone: number,
  isWaiting: (no: number) => boolean,
): number {
  let place = 0;
  for (let at = 0; at < line.size; at += 1) {
    const other = line.at(at) as number;
    if (other === no) return place;
    if (gone === 0 || isWaiting(other)) place += 1;
  }
  return -1;
}
