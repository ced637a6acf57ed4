import { OptionError } from '@troupe/core';
import { Dialer, transportLimits } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { redialBackoff } from '#src/dialer/redial-backoff.js';

const limits = suite('transport limits');

function optionOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.instance(error, OptionError);
    return (error as OptionError).option;
  }
  throw new Error('was accepted');
}

limits('changes replace limits of the profile; one that is undefined does not', () => {
  const changed = transportLimits('public', { bodiesMax: 3, submitsBurst: Number.POSITIVE_INFINITY });
  assert.is(changed.bodiesMax, 3);
  assert.is(changed.submitsBurst, Number.POSITIVE_INFINITY);
  assert.is(changed.connectionsMax, transportLimits('public').connectionsMax);
  const undefinedLimit = { bodiesMax: undefined } as unknown as { bodiesMax: number };
  assert.is(transportLimits('public', undefinedLimit).bodiesMax, transportLimits('public').bodiesMax);
});

limits('a misspelt limit and values that bound nothing are refused', () => {
  const refused: object[] = [{ connectionMax: 5 }, { connectionsMax: Number.NaN }, { pingMs: 0 }];
  assert.equal(
    refused.map((changes) => optionOf(() => transportLimits('trusted', changes))),
    ['limits.connectionMax', 'limits.connectionsMax', 'limits.pingMs'],
  );
});

limits('delays of a dialer and its time for an attempt are checked', () => {
  assert.is(
    optionOf(() => redialBackoff({ jitter: 2 })),
    'backoff.jitter',
  );
  const options = {
    address: { host: '127.0.0.1', port: 1 },
    connectMs: 0,
  } as unknown as ConstructorParameters<typeof Dialer>[0];
  assert.is(
    optionOf(() => new Dialer(options)),
    'connectMs',
  );
});

limits.run();
