import { TroupeError } from '@troupe/core';

/** Telemetry was required, and nobody has registered an SDK for it. */
export class NoTelemetrySdkError extends TroupeError {
  readonly code = 'ERR_NO_TELEMETRY_SDK';
  constructor(why: string) {
    super(`telemetry: ${why}; register the OpenTelemetry SDK before telemetry() is called`);
  }
}

/** Code of the process warning about an api that the SDK did not register with. */
export const SECOND_API = 'ERR_SECOND_TELEMETRY_API';
