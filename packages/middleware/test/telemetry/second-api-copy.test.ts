import { telemetry } from '@troupe/middleware';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const copies = suite('second copy of the API package');

copies('an SDK registered with another copy of the API package causes one warning', async () => {
  // The global that a lower version of the API package leaves behind when an SDK registers; our version
  // ignores it.
  const key = Symbol.for('opentelemetry.js.api.1');
  (globalThis as Record<symbol, unknown>)[key] = { version: '1.3.0', trace: {}, metrics: {} };
  const warnings: string[][] = [];
  const warn = (text: string, code: string): void => void warnings.push([code, text]);
  const noHooks = telemetry({ warn });
  telemetry({ warn });
  assert.equal(Object.keys(noHooks), ['name']);
  assert.is(warnings.length, 1);
  assert.is(warnings[0]?.[0], 'ERR_SECOND_TELEMETRY_API');
  assert.match(warnings[0]?.[1] ?? '', /version 1\.3\.0 .* nothing of Troupe will be recorded/);
  assert.match(warnings[0]?.[1] ?? '', /npm ls @opentelemetry\/api/);
});

copies.run();
