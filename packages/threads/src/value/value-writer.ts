// Hot path: every payload between threads.

import type { AnyRef, LayoutFields, RemoteRef } from '@troupe/core';
import { Failure } from '@troupe/core';
import { NotCloneableError } from '../thread/thread-errors.js';
import { nameOfErrorClass } from './error-names.js';
import { WriterForms } from './forms.js';
import { UnfitValue } from './layout/field-codec.js';
import type { LayoutCodec } from './layout/layout-codec.js';
import { isBeside, isRefused } from './node-value-kinds.js';
import { TAG, VIEWS } from './tags.js';
import type { TransferListItem } from './transfer.js';
import { pathOfUncloneable } from './uncloneable-path.js';

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
 * Writes records of values as structured clone would copy them, with the refs in them. It writes to memory
 * of a ring; a record for which that has no room goes on in memory of its own, which grows. Values that
 * only a port can carry stand beside, in `beside`.
 */
export class ValueWriter {
  at = 0;
  /** The user of the record that is being written; undefined between two records. */
  openFor: object | undefined = undefined;
  /** The record is in memory of its own, which `written` returns. */
  isScratch = true;
  /** Buffers, ports and other values for a port; undefined where there are none. */
  beside: unknown[] | undefined = undefined;
  private bytes: Buffer;
  private view: DataView;
  private start = 0;
  private end = 0;
  private scratch: Buffer = Buffer.allocUnsafeSlow(SCRATCH_BYTES);
  private forms = new WriterForms();
  /** The record has shapes or layouts that its reader does not know; before it knew so many. */
  private hasLearnt = false;
  private knownShapes = 0;
  private knownLayouts = 0;
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

  /** For a record that is written while this one's is open. */
  another(): ValueWriter {
    return new ValueWriter(this.refs);
  }

  /** Begins a record in this memory, which is always that of the same forms. */
  useMemory(user: object, bytes: Buffer, view: DataView, at: number, end: number, forms: WriterForms): void {
    this.openFor = user;
    this.hasLearnt = false;
    this.start = at;
    this.at = at;
    this.end = end;
    if (this.bytes === bytes) return;
    this.bytes = bytes;
    this.view = view;
    this.forms = forms;
    this.isScratch = false;
    this.beside = undefined;
  }

  /** Begins a record in memory of its own. */
  useScratch(user: object, forms: WriterForms): void {
    this.openFor = user;
    this.hasLearnt = false;
    this.forms = forms;
    this.at = 0;
    this.beside = undefined;
    this.toScratch();
  }

  private toScratch(): void {
    this.bytes = this.scratch;
    this.view = viewOf(this.scratch);
    this.end = this.scratch.length;
    this.isScratch = true;
  }

  get written(): Buffer {
    return this.bytes.subarray(0, this.at);
  }

  close(): void {
    this.openFor = undefined;
  }

  /** The record is not sent: its reader learns nothing from it. */
  abandon(): void {
    const { shapes, layouts } = this.forms;
    this.openFor = undefined;
    if (!this.hasLearnt) return;
    shapes.forgetAfter(this.knownShapes);
    layouts.forgetAfter(this.knownLayouts);
  }

  private learns(): void {
    if (this.hasLearnt) return;
    const { shapes, layouts } = this.forms;
    this.hasLearnt = true;
    this.knownShapes = shapes.known.length;
    this.knownLayouts = layouts.known.length;
  }

  /** A whole value: what was written before is not referred to. Throws when it cannot be cloned. */
  writeValue(value: unknown, what: string, transferred?: readonly TransferListItem[]): void {
    if (typeof value === 'number') return this.writeNumber(value);
    this.seenCount = 0;
    this.transferred = transferred;
    try {
      this.write(value);
    } catch (error) {
      throw pathOfUncloneable(value, what, this.refs, error);
    } finally {
      this.forgetSeen();
    }
  }

  /** A whole payload of a declared layout. Throws when it does not fit. */
  writeLaidOut(payload: unknown, what: string, layout: LayoutFields): void {
    const { layouts } = this.forms;
    const number = layouts.numberOf(layout);
    try {
      const codec = number < 0 ? this.writeLayout(layout) : (layouts.known[number] as LayoutCodec);
      this.room(LAYOUT_HEAD_BYTES + codec.bytes);
      let { at } = this;
      if (number >= 0) {
        this.bytes[at] = TAG.layout;
        this.view.setInt32(at + 1, number, true);
        at += LAYOUT_HEAD_BYTES;
      }
      this.at = at + codec.bytes;
      codec.write(this.bytes, this.view, at, payload);
    } catch (error) {
      if (!(error instanceof UnfitValue)) throw error;
      throw new NotCloneableError(error.field === undefined ? what : `${what}.${error.field}`, error);
    }
  }

  /** The reader gets the fields of a layout with its first payload. */
  private writeLayout(layout: LayoutFields): LayoutCodec {
    this.learns();
    const codec = this.forms.layouts.learn(layout);
    this.seenCount = 0;
    this.tag(TAG.newLayout);
    this.write(layout);
    this.forgetSeen();
    return codec;
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
      this.learns();
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
    if (!this.isScratch) this.leaveRing(0);
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
    if (!this.isScratch) return this.leaveRing(bytes);
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.scratch.length, this.at + bytes));
    this.scratch.copy(larger, 0, 0, this.at);
    this.scratch = larger;
    this.toScratch();
  }

  /**
   * The record goes on in memory of its own. It is not begun again: a getter of the payload is called once.
   */
  private leaveRing(bytes: number): void {
    const { start } = this;
    const from = this.bytes;
    const length = this.at - start;
    if (length + bytes > this.scratch.length)
      this.scratch = Buffer.allocUnsafeSlow(Math.max(2 * this.scratch.length, length + bytes));
    from.copy(this.scratch, 0, start, this.at);
    this.at = length;
    this.toScratch();
  }
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
