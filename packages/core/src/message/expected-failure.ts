import { keepClassNames } from '../errors/class-names.js';

/** An expected failure: a value that a handler replies with, made by `ctx.fail`. It causes no restart. */
export class Failure<Code extends string = string, Detail = unknown> {
  readonly failed = true;
  readonly code: Code;
  readonly detail: Detail;

  constructor(code: Code, detail: Detail) {
    this.code = code;
    this.detail = detail;
  }
}

keepClassNames({ Failure });

/** Whether a reply is an expected failure. */
export function isFailure(value: unknown): value is Failure {
  return value instanceof Failure;
}
