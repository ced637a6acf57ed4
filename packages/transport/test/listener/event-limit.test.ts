import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openRig } from '../connection-rig.js';
import { rawPeer } from '../raw-peer.js';

const limits = suite('event limit');

limits('a flood of refused peers is a bounded number of events, and the rest is counted', () => {
  const rig = openRig({ limits: { eventsPerSecondMax: 3 } });
  const flood = (): void => {
    for (let i = 0; i < 10; i += 1) rawPeer(rig).frame(1, Buffer.from('no hello'));
    rig.clock.advance(10);
  };
  flood();
  assert.equal(
    rig.events.map(({ kind }) => kind),
    ['closed', 'closed', 'closed'],
  );
  rig.clock.advance(1_000);
  rig.events.length = 0;
  flood();
  assert.equal(rig.events[0], { kind: 'events-left-out', count: 7 });
  assert.is(rig.events.length, 4);
});

limits.run();
