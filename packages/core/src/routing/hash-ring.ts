const POINTS_PER_MEMBER = 64;

/**
 * Consistent hashing: every member stands at 64 points of a ring, a key belongs to the first point after its
 * own. When a member comes or goes, only the keys next to its points move.
 */
export class HashRing {
  private readonly points: Uint32Array;
  private readonly owners: Uint32Array;

  /** `members` are numbers that stay with a member for its life, so that the others keep their points. */
  constructor(members: readonly number[]) {
    const marks = members.flatMap((member, index) =>
      Array.from({ length: POINTS_PER_MEMBER }, (_, point) => ({ at: hash(`${member}#${point}`), index })),
    );
    marks.sort((a, b) => a.at - b.at || a.index - b.index);
    this.points = Uint32Array.from(marks, ({ at }) => at);
    this.owners = Uint32Array.from(marks, ({ index }) => index);
  }

  /** The members in the order in which they are responsible for the key: the first, then its substitutes. */
  *order(key: string | number): Generator<number> {
    const seen = new Set<number>();
    const first = this.placeOf(hash(String(key)));
    for (let i = 0; i < this.owners.length; i += 1) {
      const owner = this.owners[(first + i) % this.owners.length] as number;
      if (seen.has(owner)) continue;
      seen.add(owner);
      yield owner;
    }
  }

  private placeOf(at: number): number {
    let low = 0;
    let high = this.points.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.points[middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** FNV-1a, mixed at the end: neighbouring keys must not be neighbours on the ring. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
