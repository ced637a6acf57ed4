const TEXT_MAX = 16_384;
const CAUSES_MAX = 5;
const CUT = '…';

/**
 * An error as it may leave the process: what is long in it and in its causes is cut. The error itself when nothing is,
 * which is nearly always.
 */
export function boundedError(error: Error): Error {
  return bounded(error, CAUSES_MAX) as Error;
}

function bounded(value: unknown, causes: number): unknown {
  try {
    if (typeof value === 'string') return cut(value);
    if (!(value instanceof Error)) return value;
    const { message, name, stack, cause } = value;
    const shortCause = causes === 0 ? undefined : bounded(cause, causes - 1);
    if (isShort(message) && isShort(stack ?? '') && shortCause === cause) return value;
    const copy = new Error(cut(message), shortCause === undefined ? {} : { cause: shortCause });
    const { code } = value as { readonly code?: unknown };
    return Object.assign(copy, { name, stack: cut(stack ?? '') }, code === undefined ? {} : { code });
  } catch {
    return new Error('an error that cannot be looked at');
  }
}

function isShort(text: string): boolean {
  return text.length <= TEXT_MAX;
}

function cut(text: string): string {
  return isShort(text) ? text : `${text.slice(0, TEXT_MAX)}${CUT}`;
}
