// The standard middleware for a whole system, for a subtree, and for one definition.
import { strict as assert } from 'node:assert';
import { createSystem, defineActor } from '@troupe/core';
import {
  circuitBreaker,
  deadline,
  idempotency,
  logging,
  rateLimit,
  retry,
  telemetry,
  timeout,
} from '@troupe/middleware';
import { recordingLogger } from '@troupe/middleware/testing';

let outages = 2;
const Gateway = defineActor('gateway', {
  handlers: {
    async charge(_ctx, order: { readonly id: string; readonly cents: number; readonly card: string }) {
      outages -= 1;
      if (outages >= 0) throw new Error('the bank does not answer');
      return `charged ${order.cents}`;
    },
  },
  // Handlers that may run twice; the middleware cannot know them.
  retryable: ['charge'],
  middleware: [
    idempotency({ key: ({ payload }) => (payload as { id: string }).id }),
    retry({ attempts: 4, fromMs: 5, jitter: 0 }),
    timeout({ withinMs: 2_000 }),
  ],
});

const logger = recordingLogger();
await using system = createSystem({
  name: 'shop',
  middleware: [telemetry(), logging({ logger, redact: ['card'] }), deadline()],
});
const breaker = circuitBreaker({ failures: 5, openMs: 1_000 });
const limit = rateLimit({ name: 'bank', perSecond: 50 });
const gateway = system.spawn(Gateway, { name: 'gateway', middleware: [limit, breaker] });

const order = { id: 'o-1', cents: 500, card: '4111' };
assert.equal(await gateway.ask.charge(order), 'charged 500');
assert.equal(await gateway.ask.charge(order), 'charged 500');
assert.equal(limit.consumed, 4, 'three attempts and a duplicate');
assert.equal(breaker.opened, 0);
console.log('charged once, after two outages');
