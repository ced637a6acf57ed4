// The format of the records' content, which belongs to the application. It is kept beside the log's own
// version, in STORE, and checked before an opening changes anything.

import { WalContentError } from '../wal-error.js';

export interface ContentFormat {
  /** The kind of content: a log is opened by the application that wrote it. */
  readonly name: string;
  /** Another major is another layout: refused. */
  readonly major: number;
  /** A higher minor is refused; a lower one is raised by the opening. */
  readonly minor: number;
  /** The first version of the application that reads this format, for the text of a refusal. */
  readonly since: string;
}

/** `own`: the format of the opening application; undefined for tools that do not read the content. */
export function assertContentReadable(
  found: ContentFormat | undefined,
  own: ContentFormat | undefined,
): void {
  if (own === undefined) return;
  const isReadable = found?.name === own.name && found.major === own.major && found.minor <= own.minor;
  if (!isReadable) throw new WalContentError(found, own);
}

/** The format in STORE after an opening: never a lower one than before. */
export function raisedContent(
  found: ContentFormat | undefined,
  own: ContentFormat | undefined,
): ContentFormat | undefined {
  return own === undefined || (found !== undefined && found.minor >= own.minor) ? found : own;
}

export function isContentFormat(value: unknown): value is ContentFormat {
  if (typeof value !== 'object' || value === null) return false;
  const { name, major, minor, since } = value as Partial<Record<keyof ContentFormat, unknown>>;
  return (
    typeof name === 'string' &&
    Number.isSafeInteger(major) &&
    Number.isSafeInteger(minor) &&
    typeof since === 'string'
  );
}
