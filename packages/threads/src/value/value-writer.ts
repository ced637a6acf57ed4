// Hot path: every payload between threads.

import type { TransferListItem } from 'node:worker_threads';
import type { AnyRef, LayoutFields, RemoteRef } from '@troupe/core';
import { Failure } from '@troupe/core';
import { NotCloneableError } from '../thread/thread-errors.js';
import { nameOfErrorClass } from './error-names.js';
import { WriterForms } from './forms.js';
import { UnfitValue } from './layout/field-codec.js';
import type { LayoutCodec } from './layout/layout-codec.js';
import { isBeside, isRefused } from './node-value-kinds.js';
import { TAG, VIEWS } from './tags.js';
import { pathOfUncloneable } from './uncloneable-path.js';

/** Thrown where a record is longer than the room for it; made once, so that it costs nothing. */
const NO_ROOM = new Error('no room');

/** Longer texts are written by the platform, shorter ones byte by byte. */
const SHORT_TEXT = 24;
/** So many objects of a payload are searched one by one for a second occurrence. */
const SEARCHED_MAX = 12;
const SCRATCH_BYTES = 16_384;
const NUMBER_BYTES = 9;
/** Tag and number in front of a payload of a layout. */
const LAYOUT_HEAD_BYTES = 5;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Refs, as the writer of a system needs them. */
export interface RefExports {
  isRef(value: object): boolean;
  exportRef(ref: AnyRef): RemoteRef;
}

/**
 * Writes values as structured clone would copy them, with the refs in them. It writes to memory of a ring, or
 * to memory of its own that grows. Values that only a port can carry stand beside, in `beside`.
 */
export class ValueWriter {
  at = 0;
  /** Buffers, ports and other values for a port; undefined where there are none. */
  beside: unknown[] | undefined = undefined;
  private bytes: Buffer;
  private view: DataView;
  private end = 0;
  private isScratch = true;
  private scratch: Buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  private forms = new WriterForms();
  private readonly refs: RefExports;
  /** The objects of the present value, as far as `seenCount` says; the rest is of values before. */
  private readonly seen: (object | undefined)[] = new Array<undefined>(SEARCHED_MAX + 1).fill(undefined);
  private seenCount = 0;
  private seenLater: Map<object, number> | undefined = undefined;
  private transferred: readonly TransferListItem[] | undefined = undefined;

  constructor(refs: RefExports) {
    this.refs = refs;
    this.bytes = this.scratch;
    this.view = viewOf(this.scratch);
  }

  /** Writes to this memory from now on. */
  useMemory(bytes: Buffer, view: DataView, at: number, end: number, forms: WriterForms): void {
    this.at = at;
    this.end = end;
    if (this.bytes === bytes) return;
    this.bytes = bytes;
    this.view = view;
    this.isScratch = false;
    this.forms = forms;
  }

  /** Writes to memory of its own, which `written` returns. */
  useScratch(forms: WriterForms): void {
    this.bytes = this.scratch;
    this.view = viewOf(this.scratch);
    this.at = 0;
    this.end = this.scratch.length;
    this.isScratch = true;
    this.beside = undefined;
    this.forms = forms;
  }

  get written(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  /** A whole value: what was written before is not referred to. False when there is no room for it. */
  writeValue(value: unknown, what: string, transferred?: readonly TransferListItem[]): boolean {
    if (typeof value === 'number' && this.at + NUMBER_BYTES <= this.end) {
      this.writeNumber(value);
      return true;
    }
    const { at, forms } = this;
    const knownShapes = forms.shapes.known.length;
    this.seenCount = 0;
    this.transferred = transferred;
    try {
      this.write(value);
      this.forgetSeen();
      return true;
    } catch (error) {
      this.forgetSeen();
      this.at = at;
      forms.shapes.forgetAfter(knownShapes);
      if (error === NO_ROOM) return false;
      throw pathOfUncloneable(value, what, this.refs, error);
    }
  }

  /** A whole payload of a declared layout. False when there is no room for it. */
  writeLaidOut(payload: unknown, what: string, layout: LayoutFields): boolean {
    const { at, forms } = this;
    const number = forms.layouts.numberOf(layout);
    try {
      if (number < 0) return this.writeFirstOf(payload, layout);
      const codec = forms.layouts.known[number] as LayoutCodec;
      this.room(LAYOUT_HEAD_BYTES + codec.bytes);
      this.bytes[at] = TAG.layout;
      this.view.setInt32(at + 1, number, true);
      this.at = at + LAYOUT_HEAD_BYTES + codec.bytes;
      codec.write(this.bytes, this.view, at + LAYOUT_HEAD_BYTES, payload);
      return true;
    } catch (error) {
      this.at = at;
      if (error === NO_ROOM) return false;
      if (!(error instanceof UnfitValue)) throw error;
      throw new NotCloneableError(error.field === undefined ? what : `${what}.${error.field}`, error);
    }
  }

  /** The reader gets the fields of the layout with it. */
  private writeFirstOf(payload: unknown, layout: LayoutFields): boolean {
    const { forms } = this;
    const known = forms.layouts.known.length;
    const knownShapes = forms.shapes.known.length;
    const codec = forms.layouts.learn(layout);
    this.seenCount = 0;
    try {
      this.tag(TAG.newLayout);
      this.write(layout);
      this.room(codec.bytes);
      codec.write(this.bytes, this.view, this.at, payload);
      this.at += codec.bytes;
      return true;
    } catch (error) {
      forms.layouts.forgetAfter(known);
      forms.shapes.forgetAfter(knownShapes);
      throw error;
    } finally {
      this.forgetSeen();
    }
  }

  int32(value: number): void {
    this.room(4);
    this.view.setInt32(this.at, value, true);
    this.at += 4;
  }

  float64(value: number): void {
    this.room(8);
    this.view.setFloat64(this.at, value, true);
    this.at += 8;
  }

  private write(value: unknown): void {
    switch (typeof value) {
      case 'number':
        return this.writeNumber(value);
      case 'string':
        return this.writeText(value);
      case 'object':
        return value === null ? this.tag(TAG.null) : this.writeObject(value);
      case 'boolean':
        return this.tag(value ? TAG.true : TAG.false);
      case 'undefined':
        return this.tag(TAG.undefined);
      case 'bigint':
        this.tag(TAG.bigint);
        return this.writeText(value.toString(16));
      default:
        throw new Error(`a ${typeof value}`);
    }
  }

  private tag(tag: number): void {
    this.room(1);
    this.bytes[this.at] = tag;
    this.at += 1;
  }

  private writeNumber(value: number): void {
    this.room(NUMBER_BYTES);
    const { bytes, view, at } = this;
    if ((value | 0) !== value || Object.is(value, -0)) {
      bytes[at] = TAG.float64;
      view.setFloat64(at + 1, value, true);
      this.at = at + 9;
    } else if (value >= -128 && value < 128) {
      bytes[at] = TAG.int8;
      bytes[at + 1] = value;
      this.at = at + 2;
    } else {
      bytes[at] = TAG.int32;
      view.setInt32(at + 1, value, true);
      this.at = at + 5;
    }
  }

  private writeText(text: string): void {
    const { length } = text;
    if (length <= SHORT_TEXT && this.writeShortText(text, length)) return;
    const bytes = Buffer.byteLength(text, 'utf8');
    // Lone surrogates have no form in UTF-8.
    const isUtf16 = LONE_SURROGATE.test(text);
    this.tag(TAG.text);
    this.int32(isUtf16 ? -2 * length : bytes);
    this.room(isUtf16 ? 2 * length : bytes);
    this.at += this.bytes.write(text, this.at, isUtf16 ? 'utf16le' : 'utf8');
  }

  /** False when a character does not fit into a byte. */
  private writeShortText(text: string, length: number): boolean {
    this.room(2 + length);
    const { bytes, at } = this;
    for (let i = 0; i < length; i += 1) {
      const code = text.charCodeAt(i);
      if (code > 0xff) return false;
      bytes[at + 2 + i] = code;
    }
    bytes[at] = TAG.latin1;
    bytes[at + 1] = length;
    this.at = at + 2 + length;
    return true;
  }

  private writeObject(object: object): void {
    if (this.refs.isRef(object)) {
      this.tag(TAG.ref);
      return this.write(this.refs.exportRef(object as AnyRef));
    }
    if (this.wasSeen(object)) return;
    const prototype = Object.getPrototypeOf(object) as object | null;
    if (prototype === Object.prototype || prototype === null) this.writeFields(object);
    else if (Array.isArray(object)) this.writeArray(object);
    else this.writeSpecial(object);
  }

  /** A second occurrence is written as the number of the first. */
  private wasSeen(object: object): boolean {
    const before = this.seenLater === undefined ? this.search(object) : (this.seenLater.get(object) ?? -1);
    if (before >= 0) {
      this.tag(TAG.again);
      this.int32(before);
      return true;
    }
    const number = this.seenCount;
    this.seenCount = number + 1;
    if (this.seenLater !== undefined) this.seenLater.set(object, number);
    else this.keepForSearch(object, number);
    return false;
  }

  /** A payload is not kept alive by its writer. */
  private forgetSeen(): void {
    for (let i = Math.min(this.seenCount, SEARCHED_MAX + 1) - 1; i >= 0; i -= 1) this.seen[i] = undefined;
    this.seenLater = undefined;
    this.transferred = undefined;
  }

  private search(object: object): number {
    for (let i = this.seenCount - 1; i >= 0; i -= 1) if (this.seen[i] === object) return i;
    return -1;
  }

  private keepForSearch(object: object, number: number): void {
    this.seen[number] = object;
    if (number === SEARCHED_MAX) this.seenLater = new Map(this.seen.map((one, i) => [one as object, i]));
  }

  private writeFields(object: object): void {
    const { shapes } = this.forms;
    const shape = shapes.of(object);
    if (shape.number >= 0) {
      this.tag(TAG.shape);
      this.int32(shape.number);
    } else {
      const isLearnt = shapes.learn(shape);
      this.tag(TAG.newShape);
      this.int32(isLearnt ? shape.names.length : ~shape.names.length);
      for (const name of shape.names) this.writeText(name);
    }
    const { names } = shape;
    for (let i = 0; i < names.length; i += 1)
      this.write((object as Readonly<Record<string, unknown>>)[names[i] as string]);
  }

  private writeArray(array: readonly unknown[]): void {
    const { length } = array;
    this.tag(TAG.array);
    this.int32(length);
    for (let i = 0; i < length; i += 1) {
      const item = array[i];
      if (item === undefined && !Object.hasOwn(array, i)) this.tag(TAG.hole);
      else this.write(item);
    }
  }

  private writeSpecial(object: object): void {
    if (ArrayBuffer.isView(object)) return this.writeView(object);
    if (object instanceof ArrayBuffer) return this.writeBuffer(object);
    if (object instanceof Map) return this.writeMap(object);
    if (object instanceof Set) return this.writeList(TAG.set, object.size, object);
    if (object instanceof Date) return this.writeTagged(TAG.date, object.getTime());
    if (object instanceof RegExp) return this.writeList(TAG.regexp, 2, [object.source, object.flags]);
    if (object instanceof Error) return this.writeError(object);
    if (object instanceof Failure) return this.writeList(TAG.failure, 2, [object.code, object.detail]);
    if (object instanceof Number || object instanceof String || object instanceof Boolean)
      return this.writeTagged(TAG.boxed, object.valueOf());
    if (isBeside(object) || this.isTransferred(object)) return this.writeBeside(object);
    if (isRefused(object)) throw new Error(`a ${object.constructor.name}`);
    this.writeFields(object);
  }

  private writeTagged(tag: number, value: unknown): void {
    this.tag(tag);
    this.write(value);
  }

  private writeList(tag: number, size: number, items: Iterable<unknown>): void {
    this.tag(tag);
    this.int32(size);
    for (const item of items) this.write(item);
  }

  private writeMap(map: ReadonlyMap<unknown, unknown>): void {
    this.tag(TAG.map);
    this.int32(map.size);
    for (const [key, value] of map) {
      this.write(key);
      this.write(value);
    }
  }

  private isTransferred(object: object): boolean {
    return this.transferred?.includes(object as TransferListItem) === true;
  }

  /** Only a port can carry it. */
  private writeBeside(object: object): void {
    if (!this.isScratch) throw NO_ROOM;
    this.beside ??= [];
    this.tag(TAG.beside);
    this.int32(this.beside.push(object) - 1);
  }

  private writeBuffer(buffer: ArrayBuffer): void {
    if (this.isTransferred(buffer)) return this.writeBeside(buffer);
    this.tag(TAG.buffer);
    this.int32(buffer.byteLength);
    this.room(buffer.byteLength);
    this.bytes.set(new Uint8Array(buffer), this.at);
    this.at += buffer.byteLength;
  }

  /** The part of the buffer that it shows; all of it when that moves or is shared. */
  private writeView(view: ArrayBufferView): void {
    const { buffer, byteOffset, byteLength } = view;
    const moves = this.isTransferred(buffer) || buffer instanceof SharedArrayBuffer;
    const kind = VIEWS.findIndex((View) => view instanceof View);
    this.tag(TAG.view);
    this.tag(kind);
    this.int32(moves ? byteOffset : -1);
    this.int32(byteLength);
    if (moves) {
      if (!this.wasSeen(buffer)) this.writeBeside(buffer);
      return;
    }
    this.room(byteLength);
    this.bytes.set(new Uint8Array(buffer, byteOffset, byteLength), this.at);
    this.at += byteLength;
  }

  private writeError(error: Error): void {
    this.tag(TAG.error);
    this.write(nameOfErrorClass(error));
    this.write(error.message);
    this.write(error.stack);
    this.write(Object.hasOwn(error, 'cause') ? [error.cause] : undefined);
    this.write(error instanceof AggregateError ? error.errors : undefined);
    const own = Object.entries(error).filter(
      ([name, value]) => name !== 'errors' && typeof value !== 'function',
    );
    if (nameOfErrorClass(error) === 'Error' && error.name !== 'Error') own.push(['name', error.name]);
    this.write(Object.fromEntries(own));
  }

  private room(bytes: number): void {
    if (this.at + bytes > this.end) this.grow(bytes);
  }

  private grow(bytes: number): void {
    if (!this.isScratch) throw NO_ROOM;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.scratch.length, this.at + bytes));
    this.scratch.copy(larger, 0, 0, this.at);
    this.scratch = larger;
    this.bytes = larger;
    this.view = viewOf(larger);
    this.end = larger.length;
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
