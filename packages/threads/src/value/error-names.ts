import * as core from '@troupe/core';
import * as own from '../thread/thread-errors.js';

type ErrorClass = abstract new (...args: never[]) => Error;

const classes = new Map<string, ErrorClass>();
for (const Class of [
  Error,
  TypeError,
  RangeError,
  SyntaxError,
  ReferenceError,
  EvalError,
  URIError,
  AggregateError,
])
  classes.set(Class.name, Class);
for (const [name, value] of [...Object.entries(core), ...Object.entries(own)])
  if (typeof value === 'function' && value.prototype instanceof Error)
    classes.set(name, value as unknown as ErrorClass);

/** The class that an error has on every thread; for the class of a program, the nearest of these above it. */
export function nameOfErrorClass(error: Error): string {
  for (let at = error as object | null; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const name = (at as { readonly constructor?: { readonly name?: string } }).constructor?.name ?? '';
    if (classes.get(name)?.prototype === at) return name;
  }
  return 'Error';
}

/** An error of that class, without a call of its constructor. */
export function makeError(name: string, message: unknown, stack: unknown): Error {
  const error = Object.create((classes.get(name) ?? Error).prototype) as Error;
  define(error, 'message', message);
  define(error, 'stack', stack);
  return error;
}

/** As the fields of an error are: not enumerable. */
export function define(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, writable: true, configurable: true, enumerable: false });
}
