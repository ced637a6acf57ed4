// Hot path: `add` runs twice per job.

/** Each power of two is cut into so many parts: a value is known to an eighth of itself. */
const PARTS = 8;
const POWERS = 40;
/** Values from two windows of this length are shown: those of the last five to ten minutes. */
const WINDOW_MS = 300_000;

/** Milliseconds of many events, as counts by size. */
export class DurationHistogram {
  private counts = new Uint32Array(PARTS * POWERS);
  private before = new Uint32Array(PARTS * POWERS);
  private windowEndsAt = 0;

  /** `now`: record time. */
  add(ms: number, now: number): void {
    if (now >= this.windowEndsAt) this.turn(now);
    const bucket = bucketOf(ms);
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
  }

  /** The value that this share of the events is not above; 0 without events. */
  quantile(share: number, now: number): number {
    if (now >= this.windowEndsAt) this.turn(now);
    let total = 0;
    for (let i = 0; i < this.counts.length; i += 1) total += this.countAt(i);
    let left = Math.ceil(share * total);
    if (left === 0) return 0;
    for (let i = 0; i < this.counts.length; i += 1) {
      left -= this.countAt(i);
      if (left <= 0) return upperBound(i);
    }
    return upperBound(this.counts.length - 1);
  }

  private countAt(bucket: number): number {
    return (this.counts[bucket] as number) + (this.before[bucket] as number);
  }

  private turn(now: number): void {
    const isNext = now < this.windowEndsAt + WINDOW_MS;
    const spare = this.before;
    this.before = isNext ? this.counts : new Uint32Array(PARTS * POWERS);
    this.counts = spare.fill(0);
    this.windowEndsAt = now + WINDOW_MS;
  }
}

/** The first eight are whole milliseconds. */
function bucketOf(ms: number): number {
  const whole = Math.max(0, Math.floor(ms));
  if (whole < PARTS) return whole;
  const power = Math.min(POWERS, 31 - Math.clz32(Math.min(whole, 0x7fff_ffff)));
  return (power - 2) * PARTS + Math.floor(whole / 2 ** (power - 3)) - PARTS;
}

function upperBound(bucket: number): number {
  if (bucket < PARTS) return bucket;
  const power = Math.floor(bucket / PARTS) + 2;
  return ((bucket % PARTS) + PARTS + 1) * 2 ** (power - 3) - 1;
}
