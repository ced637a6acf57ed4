/** The errors of this package. Match on `code`; docs/errors.md has an entry for each. */
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

/** A compressed body that would expand beyond its declared length or the limit. A retry cannot succeed. */
export class PayloadBombError extends TransportError {
  override readonly code = 'ERR_PAYLOAD_BOMB';
  readonly bytesMax: number;

  constructor(compressedBytes: number, bytesMax: number, options?: ErrorOptions) {
    super(`compressed body of ${compressedBytes} bytes: expands beyond ${bytesMax} bytes, refused`, options);
    this.bytesMax = bytesMax;
  }
}

export class BodyCorruptError extends TransportError {
  override readonly code = 'ERR_BODY_CORRUPT';

  constructor(what: string, options?: ErrorOptions) {
    super(`body: ${what}`, options);
  }
}

export class SecretError extends TransportError {
  override readonly code = 'ERR_SECRET';

  constructor(bytes: number) {
    super(`key: ${bytes} bytes, needed 32 (or 64 hexadecimal digits)`);
  }
}

export class AccessRuleError extends TransportError {
  override readonly code = 'ERR_ACCESS_RULE';

  /** `problem` is a clause: `needed 1 to 200 visible ASCII characters`. */
  constructor(option: string, value: unknown, problem: string) {
    super(`access rules: ${option} is ${String(value).slice(0, 80)}, ${problem}`);
  }
}

/**
 * A streamed body that will not be completed. `wireCode` is the code of the Error sent or received, 0: none.
 */
export class BodyBrokenError extends TransportError {
  override readonly code = 'ERR_BODY_BROKEN';
  readonly wireCode: number;

  constructor(what: string, answer: number) {
    super(`streamed body: ${what}`);
    this.wireCode = answer;
  }
}

export class ConnectionStateError extends TransportError {
  override readonly code = 'ERR_CONNECTION_STATE';

  constructor(what: string) {
    super(`connection: ${what}`);
  }
}

/**
 * A public address without TLS, authentication or the public profile. The CLI exits with 78 (configuration).
 */
export class UnsafeBindError extends TransportError {
  override readonly code = 'ERR_UNSAFE_BIND';
  readonly missing: readonly string[];

  constructor(address: string, missing: readonly string[]) {
    super(`listen on ${address}: refused, a public address needs ${missing.join(' and ')}`);
    this.missing = missing;
  }
}

export class ListenError extends TransportError {
  override readonly code = 'ERR_LISTEN';

  constructor(address: string, why: string, options?: ErrorOptions) {
    super(`listen on ${address}: ${why}`, options);
  }
}
