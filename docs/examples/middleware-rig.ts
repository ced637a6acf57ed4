// How to test a middleware: the rig runs it in the production runtime, in virtual time.
import { strict as assert } from 'node:assert';
import type { Middleware } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';

/** Handles messages during the day only; what comes at night waits for the morning. */
const officeHours: Middleware = {
  name: 'office-hours',
  beforeMessage({ now }) {
    const hour = (now / 3_600_000) % 24;
    if (hour >= 8 && hour < 18) return undefined;
    const hoursToEight = (32 - hour) % 24;
    return {
      verdict: 'hold',
      reason: { user: 'night' },
      resumeOn: { on: 'after', ms: hoursToEight * 3_600_000 },
    };
  },
};

await using rig = createMiddlewareRig(officeHours);
rig.ref.tell.work('letter');
await rig.settle();
assert.deepEqual(rig.ran, []);
assert.deepEqual(rig.suspensions, [{ reason: { user: 'night' }, at: 0 }]);
await rig.advance(8 * 3_600_000);
assert.deepEqual(rig.ran, ['letter']);
console.log('the letter was handled at eight');
