import { keepClassNames } from '@troupe/core/class-names';

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

  constructor(problem: string, options?: ErrorOptions) {
    super(`body: ${problem}`, options);
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
  constructor(option: string, problem: string, value?: unknown) {
    super(
      `access rules: ${option}: ${problem}${value === undefined ? '' : `, got ${String(value).slice(0, 80)}`}`,
    );
  }
}

/** A streamed body that will not be completed. `wireCode` is the code of the Error frame, 0: none. */
export class BodyBrokenError extends TransportError {
  override readonly code = 'ERR_BODY_BROKEN';
  readonly wireCode: number;

  constructor(problem: string, wireCode: number) {
    super(`streamed body: ${problem}`);
    this.wireCode = wireCode;
  }
}

export class ConnectionStateError extends TransportError {
  override readonly code = 'ERR_CONNECTION_STATE';

  constructor(problem: string) {
    super(`connection: ${problem}`);
  }
}

/** A public address without TLS, authentication or the public profile. */
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

  constructor(address: string, problem: string, options?: ErrorOptions) {
    super(`listen on ${address}: ${problem}`, options);
  }
}

keepClassNames({
  AccessRuleError,
  BodyBrokenError,
  BodyCorruptError,
  ConnectionStateError,
  HeaderError,
  ListenError,
  PayloadBombError,
  SecretError,
  TransportError,
  UnsafeBindError,
});
