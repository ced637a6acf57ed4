import type { Context } from '@opentelemetry/api';

/**
 * A context that adds one value to another context. The implementation of the OpenTelemetry API copies a map
 * and makes three functions per context, and a message needs two contexts. Setting the same key again
 * replaces the value: a chain of causes does not become a chain of contexts, which would keep all their spans
 * alive.
 */
export class ChainedContext implements Context {
  private readonly base: Context;
  private readonly key: symbol;
  private readonly value: unknown;

  private constructor(base: Context, key: symbol, value: unknown) {
    this.base = base;
    this.key = key;
    this.value = value;
  }

  /** The given context as one to which values are added by linking. */
  static on(base: Context): Context {
    return base instanceof ChainedContext ? base : new ChainedContext(base, NO_KEY, undefined);
  }

  getValue(key: symbol): unknown {
    return key === this.key ? this.value : this.base.getValue(key);
  }

  setValue(key: symbol, value: unknown): Context {
    const isReplaced = this.key === key || this.key === NO_KEY;
    return new ChainedContext(isReplaced ? this.base : this, key, value);
  }

  deleteValue(key: symbol): Context {
    const base = this.base.deleteValue(key);
    return this.key === key ? base : new ChainedContext(base, this.key, this.value);
  }
}

const NO_KEY = Symbol('no key');
