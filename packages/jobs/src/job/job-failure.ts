import type { JobFailure } from '../jobs-error.js';

const TEXT_CHARS_MAX = 4_000;
const STACK_CHARS_MAX = 2_000;
/** Causes below the failure itself. */
const CAUSES_MAX = 3;

/** The fields of a failure before they are bounded. They may come from user code or from a peer. */
interface FailureFields {
  readonly name: unknown;
  readonly message: unknown;
  readonly code?: unknown;
  readonly stack?: unknown;
  readonly cause?: unknown;
}

/** A failure of bounded size: its known fields, each up to a limit. A failure is stored and sent often. */
export function boundedFailure(failure: FailureFields, causesMax = CAUSES_MAX): JobFailure {
  const { code, stack, cause } = failure;
  return {
    name: cut(failure.name, TEXT_CHARS_MAX),
    message: cut(failure.message, TEXT_CHARS_MAX),
    ...(typeof code === 'string' ? { code: cut(code, TEXT_CHARS_MAX) } : {}),
    ...(typeof stack === 'string' && stack !== '' ? { stack: cut(stack, STACK_CHARS_MAX) } : {}),
    ...(causesMax > 0 && isFailure(cause) ? { cause: boundedFailure(cause, causesMax - 1) } : {}),
  };
}

function isFailure(value: unknown): value is FailureFields {
  return typeof value === 'object' && value !== null && 'message' in value && 'name' in value;
}

function cut(value: unknown, charsMax: number): string {
  const text = String(value);
  return text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
}
