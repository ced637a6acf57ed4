const PLACES = 512;
/** Of the hash of 32-bit FNV-1a. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** Short texts that were read lately: most texts come again, and one that is known need not be made. */
export class RecentTexts {
  private readonly texts: string[] = new Array<string>(PLACES).fill('');

  /** The text of these bytes, one for each character. */
  at(bytes: Buffer, from: number, to: number): string {
    let hash = OFFSET;
    for (let i = from; i < to; i += 1) hash = Math.imul(hash ^ (bytes[i] as number), PRIME);
    const place = (hash ^ (hash >>> 16)) & (PLACES - 1);
    const known = this.texts[place] as string;
    if (isSame(known, bytes, from, to)) return known;
    const text = bytes.toString('latin1', from, to);
    this.texts[place] = text;
    return text;
  }
}

function isSame(text: string, bytes: Buffer, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let i = from; i < to; i += 1) if (text.charCodeAt(i - from) !== bytes[i]) return false;
  return true;
}
