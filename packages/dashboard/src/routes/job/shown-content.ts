import type { Redaction } from '../../redaction/redaction.js';

/** A value of a job in JSON, without its hidden fields: bytes are `base64` in place of the name. */
export function shownContent(
  redaction: Redaction,
  name: string,
  value: unknown,
): Readonly<Record<string, unknown>> {
  const shown = redaction.redact(value);
  return shown instanceof Uint8Array ? { base64: Buffer.from(shown).toString('base64') } : { [name]: shown };
}

/** A value of a job as a file. `name`: without its ending. */
export function contentFile(redaction: Redaction, name: string, value: unknown): Response {
  const isBytes = value instanceof Uint8Array;
  if (isBytes) redaction.mustBeEmpty();
  const body = isBytes ? value : (JSON.stringify(redaction.redact(value)) ?? 'null');
  return new Response(body, { headers: fileHeaders(name, isBytes) });
}

export function fileHeaders(name: string, isBytes: boolean): Readonly<Record<string, string>> {
  const file = `${name.replaceAll(/[^\w-]/g, '')}.${isBytes ? 'bin' : 'json'}`;
  return {
    'content-type': isBytes ? 'application/octet-stream' : 'application/json',
    'content-disposition': `attachment; filename="${file}"`,
  };
}
