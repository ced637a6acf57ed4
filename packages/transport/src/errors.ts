/** Everything this package throws or reports. Match on `code`; docs/errors.md has an entry for each. */
export abstract class TransportError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

export class HeaderError extends TransportError {
  override readonly code = 'ERR_FRAME_HEADER';
  readonly field: string;

  constructor(field: string, value: unknown, needed: string) {
    super(`frame header: ${field} is ${String(value).slice(0, 80)}, needed ${needed}`);
    this.field = field;
  }
}

/** A compressed body that would grow beyond what it declared or what is allowed. Not worth a retry. */
export class PayloadBombError extends TransportError {
  override readonly code = 'ERR_PAYLOAD_BOMB';
  readonly bytesMax: number;

  constructor(compressedBytes: number, bytesMax: number, options?: ErrorOptions) {
    super(`compressed body of ${compressedBytes} bytes: grows beyond ${bytesMax} bytes, refused`, options);
    this.bytesMax = bytesMax;
  }
}

export class BodyCorruptError extends TransportError {
  override readonly code = 'ERR_BODY_CORRUPT';

  constructor(what: string, options?: ErrorOptions) {
    super(`body: ${what}`, options);
  }
}
