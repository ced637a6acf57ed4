import { OptionError } from '@troupe/core';
import {
  circuitBreaker,
  deadline,
  idempotency,
  jobTelemetry,
  logging,
  rateLimit,
  retry,
  telemetry,
  timeout,
} from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const options = suite('unknown options');

options('an unknown option is refused by every middleware', () => {
  const makers: Readonly<Record<string, (options: never) => unknown>> = {
    circuitBreaker,
    deadline,
    idempotency,
    jobTelemetry,
    logging,
    rateLimit,
    retry,
    telemetry,
    timeout,
  };
  for (const [name, make] of Object.entries(makers)) {
    assert.throws(
      () => make({ oddName: 1 } as never),
      (error: unknown) => error instanceof OptionError && error.option.endsWith('.oddName'),
      name,
    );
  }
});

options.run();
