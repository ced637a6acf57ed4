import { keepClassNames } from '../../errors/class-names.js';
import { TroupeError } from '../../errors/error-classes.js';
import { Failure } from '../../message/expected-failure.js';
import type { AnyRef } from '../../ref/actor-ref.js';
import type { RemoteRef, ThreadReceiver } from '../../remote/threads.js';

/** A value that cannot cross to another virtual thread, as it could not to a real one. */
export class UncrossableError extends TroupeError {
  readonly code = 'ERR_NOT_CLONEABLE';
  /** The field: `payload.rows[3].format`. */
  readonly path: string;
  constructor(path: string, what: string) {
    super(`${path} cannot be passed to another thread: ${what}; send data`);
    this.path = path;
  }
}

keepClassNames({ UncrossableError });

/** A ref on its way. */
class CrossingRef {
  readonly ref: RemoteRef;
  constructor(ref: RemoteRef) {
    this.ref = ref;
  }
}

/** A copy that has left its thread: no object of it belongs to a thread, except shared memory and errors. */
export function copyOut(receiver: ThreadReceiver, value: unknown, path: string): unknown {
  const refOf = (object: object): unknown =>
    receiver.isRef(object) ? new CrossingRef(receiver.exportRef(object as AnyRef)) : undefined;
  return new Copy(refOf).of(value, path);
}

/** The same on the thread where it arrives. */
export function copyIn(receiver: ThreadReceiver, value: unknown): unknown {
  const refOf = (object: object): unknown =>
    object instanceof CrossingRef ? receiver.importRef(object.ref) : undefined;
  return new Copy(refOf).of(value, '');
}

class Copy {
  private readonly refOf: (object: object) => unknown;
  private readonly seen = new Map<object, unknown>();

  constructor(refOf: Copy['refOf']) {
    this.refOf = refOf;
  }

  of(value: unknown, path: string): unknown {
    if (typeof value === 'function' || typeof value === 'symbol')
      throw new UncrossableError(path, `a ${typeof value}`);
    if (typeof value !== 'object' || value === null) return value;
    return this.seen.get(value) ?? this.refOf(value) ?? this.ofObject(value, path);
  }

  private ofObject(object: object, path: string): unknown {
    if (object instanceof Error || object instanceof Failure) return object;
    if (Array.isArray(object)) return this.ofArray(object, path);
    if (object instanceof Map) return this.ofMap(object, path);
    if (object instanceof Set) return this.ofSet(object, path);
    if (isPlain(object)) return this.ofFields(object, path);
    try {
      return this.keep(object, structuredClone(object));
    } catch (error) {
      throw new UncrossableError(path, String(error));
    }
  }

  private ofArray(array: readonly unknown[], path: string): unknown {
    const copy = this.keep<unknown[]>(array, []);
    copy.push(...array.map((item, i) => this.of(item, `${path}[${i}]`)));
    return copy;
  }

  private ofMap(map: ReadonlyMap<unknown, unknown>, path: string): unknown {
    const copy = this.keep(map, new Map<unknown, unknown>());
    for (const [key, item] of map) copy.set(this.of(key, path), this.of(item, `${path}.get(${String(key)})`));
    return copy;
  }

  private ofSet(set: ReadonlySet<unknown>, path: string): unknown {
    const copy = this.keep(set, new Set<unknown>());
    for (const item of set) copy.add(this.of(item, path));
    return copy;
  }

  private ofFields(object: object, path: string): unknown {
    const copy = this.keep<Record<string, unknown>>(object, {});
    for (const [name, field] of Object.entries(object)) copy[name] = this.of(field, `${path}.${name}`);
    return copy;
  }

  private keep<T>(object: object, copy: T): T {
    this.seen.set(object, copy);
    return copy;
  }
}

/** An object of a class is copied field by field, as structured clone does. */
function isPlain(object: object): boolean {
  return Object.prototype.toString.call(object) === '[object Object]';
}
