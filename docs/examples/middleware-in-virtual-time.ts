// A test of a middleware: the rig runs it in the production runtime, in virtual time.
import { strict as assert } from 'node:assert';
import type { Middleware } from '@troupe/core';
import { createMiddlewareRig } from '@troupe/core/testing';

/** Handles messages from 8 to 18 o'clock; messages at other times are held until 8. */
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
rig.ref.tell.work('report');
await rig.settle();
assert.deepEqual(rig.ran, []);
assert.deepEqual(rig.suspensions, [{ reason: { user: 'night' }, at: 0 }]);
await rig.advance(8 * 3_600_000);
assert.deepEqual(rig.ran, ['report']);
console.log('the message was handled at eight');
