// Hot path: every payload between threads.

import { type AnyRef, Failure, type LayoutFields, type RemoteRef } from '@troupe/core';
import { define, makeError } from './error-names.js';
import { ReaderForms } from './forms.js';
import { LayoutCodec } from './layout/layout-codec.js';
import { RecentTexts } from './recent-texts.js';
import { TAG, VIEWS } from './tags.js';

/** In the place of an item that an array does not have. */
const HOLE = Symbol('hole');

/** Texts that are looked for among those read before. */
const SHORT_TEXT = 16;

/** Refs, as the reader of a system needs them. */
export interface RefImports {
  importRef(ref: RemoteRef): AnyRef;
}

/** Reads what a `ValueWriter` has written. */
export class ValueReader {
  at = 0;
  private bytes: Buffer = Buffer.alloc(0);
  private view: DataView = new DataView(new ArrayBuffer(0));
  private beside: readonly unknown[] = [];
  /** Shapes and layouts that the writer has numbered before. */
  forms = new ReaderForms();
  private readonly refs: RefImports;
  private seen: object[] = [];
  private readonly texts = new RecentTexts();

  constructor(refs: RefImports) {
    this.refs = refs;
  }

  /** Reads from this memory from now on. `forms`: those that its writer has used before. */
  useMemory(bytes: Buffer, view: DataView, at: number, forms: ReaderForms): void {
    this.at = at;
    if (this.bytes === bytes) return;
    this.bytes = bytes;
    this.view = view;
    this.forms = forms;
  }

  useBytes(bytes: Uint8Array, forms: ReaderForms, beside: readonly unknown[]): void {
    const { buffer, byteOffset, length } = bytes;
    const memory = Buffer.from(buffer, byteOffset, length);
    this.useMemory(memory, new DataView(buffer, byteOffset, length), 0, forms);
    this.beside = beside;
  }

  /** Nothing follows in these bytes. */
  get isAtEnd(): boolean {
    return this.at >= this.bytes.length;
  }

  int32(): number {
    const value = this.view.getInt32(this.at, true);
    this.at += 4;
    return value;
  }

  float64(): number {
    const value = this.view.getFloat64(this.at, true);
    this.at += 8;
    return value;
  }

  /** A whole value. */
  readValue(): unknown {
    if (this.seen.length > 0) this.seen = [];
    return this.read();
  }

  private read(): unknown {
    const tag = this.bytes[this.at] as number;
    this.at += 1;
    switch (tag) {
      case TAG.undefined:
        return undefined;
      case TAG.null:
        return null;
      case TAG.true:
        return true;
      case TAG.false:
        return false;
      case TAG.int8:
        this.at += 1;
        return this.view.getInt8(this.at - 1);
      case TAG.int32:
        return this.int32();
      case TAG.float64:
        return this.float64();
      case TAG.latin1:
        return this.readShortText();
      case TAG.shape:
        return this.readFields(this.forms.shapes[this.int32()] as readonly string[]);
      case TAG.array:
        return this.readArray();
      case TAG.layout:
        return this.readLaidOut(this.forms.layouts[this.int32()] as LayoutCodec);
      default:
        return this.readRare(tag);
    }
  }

  private readRare(tag: number): unknown {
    switch (tag) {
      case TAG.text:
        return this.readText();
      case TAG.newShape:
        return this.readNewShape();
      case TAG.newLayout:
        return this.readNewLayout();
      case TAG.ref:
        return this.refs.importRef(this.read() as RemoteRef);
      case TAG.again:
        return this.seen[this.int32()];
      case TAG.bigint:
        return parseBigInt(this.read() as string);
      case TAG.hole:
        return HOLE;
      default:
        return this.readSpecial(tag);
    }
  }

  private readSpecial(tag: number): unknown {
    switch (tag) {
      case TAG.date:
        return this.keep((place) => {
          const date = new Date(this.read() as number);
          this.seen[place] = date;
          return date;
        });
      case TAG.boxed:
        return this.keep((place) => {
          const boxed = Object(this.read()) as object;
          this.seen[place] = boxed;
          return boxed;
        });
      case TAG.map:
        return this.readMap();
      case TAG.set:
        return this.readSet();
      case TAG.regexp:
        return this.keep((place) => {
          const [source, flags] = this.readItems() as [string, string];
          const regexp = new RegExp(source, flags);
          this.seen[place] = regexp;
          return regexp;
        });
      case TAG.failure:
        return this.keep((place) => {
          const [code, detail] = this.readItems() as [string, unknown];
          const failure = new Failure(code, detail);
          this.seen[place] = failure;
          return failure;
        });
      case TAG.buffer:
        return this.keep((place) => {
          const buffer = this.copied(this.int32());
          this.seen[place] = buffer;
          return buffer;
        });
      case TAG.view:
        return this.readView();
      case TAG.error:
        return this.readError();
      case TAG.beside:
        return this.keep((place) => {
          const value = this.beside[this.int32()] as object;
          this.seen[place] = value;
          return value;
        });
      default:
        throw new Error(`no value begins with the byte ${tag}`);
    }
  }

  /** Reserves the place of an object whose parts are read before it is made. */
  private keep<T>(make: (place: number) => T): T {
    const place = this.seen.length;
    this.seen.push(this);
    return make(place);
  }

  private readShortText(): string {
    const { bytes, at } = this;
    const length = bytes[at] as number;
    this.at = at + 1 + length;
    return length > SHORT_TEXT
      ? bytes.toString('latin1', at + 1, this.at)
      : this.texts.at(bytes, at + 1, this.at);
  }

  private readText(): string {
    const length = this.int32();
    const from = this.at;
    this.at += Math.abs(length);
    return this.bytes.toString(length < 0 ? 'utf16le' : 'utf8', from, this.at);
  }

  private readNewShape(): object {
    const count = this.int32();
    const isLearnt = count >= 0;
    const names: string[] = [];
    for (let i = isLearnt ? count : ~count; i > 0; i -= 1) names.push(this.read() as string);
    if (isLearnt) this.forms.shapes.push(names);
    return this.readFields(names);
  }

  private readNewLayout(): unknown {
    const codec = new LayoutCodec(this.read() as LayoutFields);
    this.forms.layouts.push(codec);
    return this.readLaidOut(codec);
  }

  private readLaidOut(codec: LayoutCodec): unknown {
    const { at } = this;
    this.at = at + codec.bytes;
    return codec.read(this.bytes, this.view, at);
  }

  private readFields(names: readonly string[]): object {
    const object: Record<string, unknown> = {};
    this.seen.push(object);
    for (let i = 0; i < names.length; i += 1) {
      const name = names[i] as string;
      if (name === '__proto__')
        Object.defineProperty(object, name, {
          value: this.read(),
          writable: true,
          enumerable: true,
          configurable: true,
        });
      else object[name] = this.read();
    }
    return object;
  }

  private readArray(): unknown[] {
    const array: unknown[] = [];
    this.seen.push(array);
    this.fill(array, this.int32());
    return array;
  }

  /** The parts of a special value. */
  private readItems(): unknown[] {
    const items: unknown[] = [];
    this.fill(items, this.int32());
    return items;
  }

  private fill(array: unknown[], length: number): void {
    for (let i = 0; i < length; i += 1) {
      const item = this.read();
      if (item === HOLE) array.length = i + 1;
      else array[i] = item;
    }
  }

  private readMap(): Map<unknown, unknown> {
    const map = new Map<unknown, unknown>();
    this.seen.push(map);
    for (let left = this.int32(); left > 0; left -= 1) {
      const key = this.read();
      map.set(key, this.read());
    }
    return map;
  }

  private readSet(): Set<unknown> {
    const set = new Set<unknown>();
    this.seen.push(set);
    for (let left = this.int32(); left > 0; left -= 1) set.add(this.read());
    return set;
  }

  private copied(length: number): ArrayBuffer {
    const copy = new Uint8Array(length);
    copy.set(this.bytes.subarray(this.at, this.at + length));
    this.at += length;
    return copy.buffer;
  }

  private readView(): object {
    return this.keep((place) => {
      const View = VIEWS[this.bytes[this.at] as number] as Uint8ArrayConstructor;
      this.at += 1;
      const offset = this.int32();
      const byteLength = this.int32();
      const buffer = offset < 0 ? this.copied(byteLength) : (this.read() as ArrayBuffer);
      const size = (View as { readonly BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
      const view = new View(buffer, Math.max(0, offset), byteLength / size);
      this.seen[place] = view;
      return view;
    });
  }

  private readError(): Error {
    return this.keep((place) => {
      const error = makeError(this.read() as string, this.read(), this.read());
      this.seen[place] = error;
      const cause = this.read() as [unknown] | undefined;
      if (cause !== undefined) define(error, 'cause', cause[0]);
      const errors = this.read();
      if (errors !== undefined) define(error, 'errors', errors);
      return Object.assign(error, this.read());
    });
  }
}

function parseBigInt(hex: string): bigint {
  return hex.startsWith('-') ? -BigInt(`0x${hex.slice(1)}`) : BigInt(`0x${hex}`);
}
