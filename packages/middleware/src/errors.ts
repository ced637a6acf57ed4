import { TroupeError } from '@troupe/core';
import { keepClassNames } from '@troupe/core/class-names';

/** Telemetry was required, but no SDK is registered. */
export class NoTelemetrySdkError extends TroupeError {
  readonly code = 'ERR_NO_TELEMETRY_SDK';
  /** As a text, so that it survives a minifier. */
  override get name(): string {
    return 'NoTelemetrySdkError';
  }
  constructor(why: string) {
    super(`telemetry: ${why}; register the OpenTelemetry SDK before telemetry() is called`);
  }
}

/** Code of the process warning about an SDK that is registered with another copy of the API package. */
export const SECOND_TELEMETRY_API = 'ERR_SECOND_TELEMETRY_API';

keepClassNames({ NoTelemetrySdkError });
