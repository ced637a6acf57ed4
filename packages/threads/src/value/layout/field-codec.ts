import type { FieldForm } from '@troupe/core';
import { RecentTexts } from '../recent-texts.js';

/** In front of a text: its bytes, below 0 where they are not all ASCII. */
const LENGTH_BYTES = 4;
/** Longer texts are written by the platform, shorter ones byte by byte. */
const SHORT_TEXT = 24;
/** Longer texts are not looked for among those read before. */
const RECENT_TEXT = 16;

/** Thrown for a value that does not fit; `field` is undefined for a whole payload. */
export class UnfitValue extends Error {
  readonly field: string | undefined;
  constructor(field: string | undefined, wanted: string, value: unknown) {
    super(`its layout has ${wanted} there, and it is ${describe(value)}`);
    this.field = field;
  }
}

function describe(value: unknown): string {
  if (typeof value === 'string') return `a text of ${Buffer.byteLength(value)} bytes`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}

/** A form of numbers: how a DataView names it, and the range in which a number comes out as it went in. */
export interface NumberRange {
  readonly bytes: number;
  readonly method: 'Int8' | 'Uint8' | 'Int16' | 'Uint16' | 'Int32' | 'Uint32' | 'Float32' | 'Float64';
  /** Of whole numbers; undefined for fractions, which are rounded to the form. */
  readonly range: readonly [min: number, max: number] | undefined;
}

const NUMBERS: Readonly<Record<string, NumberRange>> = {
  int8: { bytes: 1, method: 'Int8', range: [-128, 127] },
  uint8: { bytes: 1, method: 'Uint8', range: [0, 255] },
  int16: { bytes: 2, method: 'Int16', range: [-32_768, 32_767] },
  uint16: { bytes: 2, method: 'Uint16', range: [0, 65_535] },
  int32: { bytes: 4, method: 'Int32', range: [-2_147_483_648, 2_147_483_647] },
  uint32: { bytes: 4, method: 'Uint32', range: [0, 4_294_967_295] },
  float32: { bytes: 4, method: 'Float32', range: undefined },
  float64: { bytes: 8, method: 'Float64', range: undefined },
};

/** One field of a layout. */
export class FieldCodec {
  /** Undefined for a bare value. */
  readonly name: string | undefined;
  readonly form: FieldForm;
  /** From the beginning of the payload. */
  readonly offset: number;
  readonly bytes: number;
  /** Undefined for texts and truth values. */
  readonly numbers: NumberRange | undefined;
  private readonly textMax: number;
  private readonly texts = new RecentTexts();

  constructor(name: string | undefined, form: FieldForm, offset: number) {
    this.name = name;
    this.form = form;
    this.offset = offset;
    this.numbers = NUMBERS[form];
    this.textMax = form.startsWith('text:') ? Number(form.slice('text:'.length)) : 0;
    this.bytes = this.numbers?.bytes ?? (form === 'boolean' ? 1 : LENGTH_BYTES + this.textMax);
  }

  /** `at`: the beginning of the payload, as for `read`. */
  write(memory: Buffer, view: DataView, at: number, value: unknown): void {
    const place = at + this.offset;
    if (this.numbers !== undefined) {
      if (!isNumberOf(this.numbers, value)) this.refuse(value);
      view[`set${this.numbers.method}`](place, value as number, true);
    } else if (this.form === 'boolean') {
      if (typeof value !== 'boolean') this.refuse(value);
      memory[place] = value ? 1 : 0;
    } else this.writeText(memory, view, place, value);
  }

  read(memory: Buffer, view: DataView, at: number): unknown {
    const place = at + this.offset;
    if (this.numbers !== undefined) return view[`get${this.numbers.method}`](place, true);
    return this.form === 'boolean' ? memory[place] === 1 : this.readText(memory, view, place);
  }

  refuse(value: unknown): never {
    throw new UnfitValue(this.name, this.form, value);
  }

  /** `place`: of the text itself, as for `readText`. */
  writeText(memory: Buffer, view: DataView, place: number, text: unknown): void {
    if (typeof text !== 'string') this.refuse(text);
    if (text.length <= SHORT_TEXT && text.length <= this.textMax && writeAscii(memory, view, place, text))
      return;
    const bytes = Buffer.byteLength(text, 'utf8');
    if (bytes > this.textMax) this.refuse(text);
    memory.write(text, place + LENGTH_BYTES, 'utf8');
    view.setInt32(place, bytes === text.length ? bytes : -bytes, true);
  }

  readText(memory: Buffer, view: DataView, place: number): string {
    const length = view.getInt32(place, true);
    const from = place + LENGTH_BYTES;
    if (length < 0) return memory.toString('utf8', from, from - length);
    return length > RECENT_TEXT
      ? memory.toString('latin1', from, from + length)
      : this.texts.at(memory, from, from + length);
  }
}

function isNumberOf({ range }: NumberRange, value: unknown): boolean {
  if (typeof value !== 'number') return false;
  return range === undefined || (Number.isInteger(value) && value >= range[0] && value <= range[1]);
}

/** False when a character is not ASCII. */
function writeAscii(memory: Buffer, view: DataView, place: number, text: string): boolean {
  const from = place + LENGTH_BYTES;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code > 0x7f) return false;
    memory[from + i] = code;
  }
  view.setInt32(place, text.length, true);
  return true;
}
