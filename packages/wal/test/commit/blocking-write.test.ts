import type { Log, Storage, WalOptions } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { World } from '../log-harness.js';

const lone = suite('lone page');

/** A log, and what it said of each of its durable writes from now on. */
function watched(options: WalOptions = {}): { world: World; log: Log; alone: (boolean | undefined)[] } {
  const world = new World();
  const log = world.open(options);
  const alone: (boolean | undefined)[] = [];
  const { storage } = world;
  const write = storage.writeDurable.bind(storage);
  const spy: Storage['writeDurable'] = (file, bytes, position, done, how) => {
    alone.push(how?.mayBlock);
    write(file, bytes, position, done);
  };
  storage.writeDurable = spy;
  return { world, log, alone };
}

lone('a record that comes by itself is said to be alone, each time', () => {
  const { world, log, alone } = watched();
  for (const text of ['one', 'two']) {
    log.append(Buffer.from(text));
    world.settle();
  }
  assert.equal(alone, [true, true]);
});

lone('records that come together are not', () => {
  const { world, log, alone } = watched();
  log.append(Buffer.from('one'));
  log.append(Buffer.from('two'));
  world.settle();
  assert.equal(alone, [false]);
});

lone('a record that came while another was written is not, and is told behind it', () => {
  const { world, log, alone } = watched();
  const told: string[] = [];
  log.append(Buffer.from('one'), () => told.push('one'));
  world.host.run();
  log.append(Buffer.from('two'), () => told.push('two'));
  world.settle();
  assert.equal(alone, [true, false]);
  assert.equal(told, ['one', 'two']);
});

lone('a record of more than a page is not', () => {
  const { world, log, alone } = watched({ inlineBytesMax: 5_000 });
  log.append(Buffer.alloc(4_500));
  world.settle();
  assert.equal(alone, [false]);
});

lone.run();
