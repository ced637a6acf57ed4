const TEXT_MAX = 16_384;
const CAUSES_MAX = 5;
const ELLIPSIS = '…';

/**
 * A copy of an error that may leave the process: long texts in the error and in its causes are cut. Returns
 * the error itself when nothing is too long, which is nearly always.
 */
export function truncateError(error: Error): Error {
  return truncate(error, CAUSES_MAX) as Error;
}

function truncate(value: unknown, causes: number): unknown {
  try {
    if (typeof value === 'string') return truncateText(value);
    if (!(value instanceof Error)) return value;
    const { message, name, stack, cause } = value;
    const shortCause = causes === 0 ? undefined : truncate(cause, causes - 1);
    if (isShort(message) && isShort(stack ?? '') && shortCause === cause) return value;
    const copy = new Error(truncateText(message), shortCause === undefined ? {} : { cause: shortCause });
    const { code } = value as { readonly code?: unknown };
    return Object.assign(
      copy,
      { name, stack: truncateText(stack ?? '') },
      code === undefined ? {} : { code },
    );
  } catch {
    return new Error('an error that cannot be read');
  }
}

function isShort(text: string): boolean {
  return text.length <= TEXT_MAX;
}

function truncateText(text: string): string {
  return isShort(text) ? text : `${text.slice(0, TEXT_MAX)}${ELLIPSIS}`;
}
