const NAME_MAX = 200;
const MESSAGE_MAX = 10_000;

/** The text of an error of user code, which may be huge, or a getter that throws. */
export function messageOf(error: Error): string {
  try {
    const { message } = error;
    return message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : `${message}`;
  } catch {
    return 'a message that cannot be read';
  }
}

/**
 * Longest text and longest stack of an error that leaves the runtime (events, log lines, reports), in
 * characters: an error of 100 MB would do more harm on its way to a disk or a collector than the failure that
 * it reports.
 */
const ERROR_TEXT_MAX = 16_384;
const CAUSES_MAX = 8;

/**
 * The error itself if it is of ordinary size, with its causes; else a copy, cut, of its name, text, stack,
 * code and causes. A stack is made when it is first read, which takes longer than a restart: `stack:
 * 'unread'` judges by the rest alone.
 */
export function boundedError(error: Error, look: { readonly stack?: 'unread' } = {}): Error {
  try {
    if (isOrdinary(error, look.stack === 'unread', 0)) return error;
  } catch {
    // A value that cannot be inspected is copied as far as it can be.
  }
  return cutCopyOf(error, 0);
}

function isOrdinary(error: Error, stackUnread: boolean, depth: number): boolean {
  const { name, message, cause } = error;
  if (name.length > NAME_MAX || message.length > ERROR_TEXT_MAX) return false;
  if (!stackUnread && (error.stack?.length ?? 0) > ERROR_TEXT_MAX) return false;
  if (!(cause instanceof Error)) return typeof cause !== 'string' || cause.length <= ERROR_TEXT_MAX;
  return depth < CAUSES_MAX && isOrdinary(cause, stackUnread, depth + 1);
}

function cutCopyOf(error: Error, depth: number): Error {
  const copy = new Error(textOf(error, 'message', ERROR_TEXT_MAX) ?? 'a message that cannot be read');
  copy.name = textOf(error, 'name', NAME_MAX) ?? 'Error';
  copy.stack = textOf(error, 'stack', ERROR_TEXT_MAX) ?? `${copy.name}: ${copy.message}`;
  const code = textOf(error, 'code', NAME_MAX);
  if (code !== undefined) Object.assign(copy, { code });
  const cause = depth < CAUSES_MAX ? causeOf(error) : undefined;
  if (cause !== undefined) copy.cause = cutCopyOf(cause, depth + 1);
  return copy;
}

function textOf(error: Error, key: 'name' | 'message' | 'stack' | 'code', max: number): string | undefined {
  try {
    const text = (error as Partial<Record<typeof key, unknown>>)[key];
    if (typeof text !== 'string') return undefined;
    return text.length > max ? `${text.slice(0, max)}…` : text;
  } catch {
    return undefined;
  }
}

function causeOf(error: Error): Error | undefined {
  try {
    return error.cause instanceof Error ? error.cause : undefined;
  } catch {
    return undefined;
  }
}
