// timeout: 180s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LeaseHold } from '#src/log/lease-hold.js';
import type { PlantedFault } from './simulated-database.js';
import { SimulatedLeaders } from './simulated-leaders.js';

const planted = suite('planted bugs of leaders on a database');
const SEEDS_MAX = 200;

interface PlantedBug {
  readonly name: string;
  readonly fault?: PlantedFault;
  /** Changes production code; the result changes it back. */
  readonly plant?: () => () => void;
}

const isHeld = Object.getOwnPropertyDescriptor(LeaseHold.prototype, 'isHeld') as PropertyDescriptor;
const { extend } = LeaseHold.prototype;

const bugs: readonly PlantedBug[] = [
  { name: 'an append does not check the epoch', fault: 'append-without-epoch' },
  {
    name: 'an append checks the head that it saw before its lock',
    fault: 'append-by-the-head-before-the-lock',
  },
  { name: 'a standby does not wait for the end of the lease', fault: 'lease-always-free' },
  { name: 'the end of a lease is looked up on a local clock', fault: 'lease-by-a-local-clock' },
  { name: 'an unknown outcome is taken as committed', fault: 'unknown-outcome-taken-as-committed' },
  {
    name: 'a take-over reads the head before it has its lock',
    fault: 'take-over-by-the-head-before-the-lock',
  },
  { name: 'a snapshot is ahead of the log', fault: 'snapshot-ahead-of-the-log' },
  {
    name: 'a leader serves beyond the end of its lease',
    plant: () => patched('isHeld', { ...isHeld, get: () => true }),
  },
  {
    name: 'a lease is counted from the answer to its renewal',
    plant: () =>
      patched('extend', {
        ...Object.getOwnPropertyDescriptor(LeaseHold.prototype, 'extend'),
        value(this: LeaseHold, endsAt: number) {
          const { clock } = this as unknown as { readonly clock: { now(): number } };
          extend.call(this, Math.max(endsAt, clock.now() + 1_000));
        },
      }),
  },
];

function patched(name: keyof LeaseHold, changed: PropertyDescriptor): () => void {
  const before = Object.getOwnPropertyDescriptor(LeaseHold.prototype, name) as PropertyDescriptor;
  Object.defineProperty(LeaseHold.prototype, name, { ...changed, configurable: true });
  return () => Object.defineProperty(LeaseHold.prototype, name, before);
}

for (const { name, fault, plant } of bugs)
  planted(`the checker finds a planted bug: ${name}`, async () => {
    const restore = plant?.();
    try {
      let found = '';
      let seed = 0;
      while (found === '' && seed < SEEDS_MAX) {
        seed += 1;
        found = (await new SimulatedLeaders(seed, fault).run()).problems[0] ?? '';
      }
      assert.ok(found !== '', `not found in ${SEEDS_MAX} seeds`);
      process.stdout.write(`  seed ${seed}: ${name}: ${found}\n`);
    } finally {
      restore?.();
    }
  });

planted.run();
