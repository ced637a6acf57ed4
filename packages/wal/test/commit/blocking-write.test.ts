import type { Log, Storage, WalOptions } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LogHarness } from '../log-harness.js';

const lone = suite('lone page');

/** A log, and what it said of each of its durable writes from now on. */
function watched(options: WalOptions = {}): {
  harness: LogHarness;
  log: Log;
  alone: (boolean | undefined)[];
} {
  const harness = new LogHarness();
  const log = harness.open(options);
  const alone: (boolean | undefined)[] = [];
  const { storage } = harness;
  const write = storage.writeDurable.bind(storage);
  const spy: Storage['writeDurable'] = (file, bytes, position, done, how) => {
    alone.push(how?.mayBlock);
    write(file, bytes, position, done);
  };
  storage.writeDurable = spy;
  return { harness, log, alone };
}

lone('a record that comes by itself is said to be alone, each time', () => {
  const { harness, log, alone } = watched();
  for (const text of ['one', 'two']) {
    log.append(Buffer.from(text));
    harness.settle();
  }
  assert.equal(alone, [true, true]);
});

lone('records that come together are not', () => {
  const { harness, log, alone } = watched();
  log.append(Buffer.from('one'));
  log.append(Buffer.from('two'));
  harness.settle();
  assert.equal(alone, [false]);
});

lone('a record that came while another was written is not, and is told behind it', () => {
  const { harness, log, alone } = watched();
  const told: string[] = [];
  log.append(Buffer.from('one'), () => told.push('one'));
  harness.host.runDeferred();
  log.append(Buffer.from('two'), () => told.push('two'));
  harness.settle();
  assert.equal(alone, [true, false]);
  assert.equal(told, ['one', 'two']);
});

lone('a record of more than a page is not', () => {
  const { harness, log, alone } = watched({ inlineBytesMax: 5_000 });
  log.append(Buffer.alloc(4_500));
  harness.settle();
  assert.equal(alone, [false]);
});

lone.run();
