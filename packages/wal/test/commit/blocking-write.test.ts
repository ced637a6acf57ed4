import type { Log, Storage, WalOptions } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LogHarness } from '../log-harness.js';

const blocking = suite('blocking write');

/** A log, and the `mayBlock` of each of its durable writes from now on. */
function watched(options: WalOptions = {}): {
  harness: LogHarness;
  log: Log;
  mayBlock: (boolean | undefined)[];
} {
  const harness = new LogHarness();
  const log = harness.open(options);
  const mayBlock: (boolean | undefined)[] = [];
  const { storage } = harness;
  const write = storage.writeDurable.bind(storage);
  const spy: Storage['writeDurable'] = (file, bytes, position, done, how) => {
    mayBlock.push(how?.mayBlock);
    write(file, bytes, position, done);
  };
  storage.writeDurable = spy;
  return { harness, log, mayBlock };
}

blocking('the write of a single record may block', () => {
  const { harness, log, mayBlock } = watched();
  for (const text of ['one', 'two']) {
    log.append(Buffer.from(text));
    harness.settle();
  }
  assert.equal(mayBlock, [true, true]);
});

blocking('the write of several records may not block', () => {
  const { harness, log, mayBlock } = watched();
  log.append(Buffer.from('one'));
  log.append(Buffer.from('two'));
  harness.settle();
  assert.equal(mayBlock, [false]);
});

blocking('the write of a record that waited for another may not block, and completes after it', () => {
  const { harness, log, mayBlock } = watched();
  const completed: string[] = [];
  log.append(Buffer.from('one'), () => completed.push('one'));
  harness.host.runDeferred();
  log.append(Buffer.from('two'), () => completed.push('two'));
  harness.settle();
  assert.equal(mayBlock, [true, false]);
  assert.equal(completed, ['one', 'two']);
});

blocking('the write of a record larger than a page may not block', () => {
  const { harness, log, mayBlock } = watched({ inlineBytesMax: 5_000 });
  log.append(Buffer.alloc(4_500));
  harness.settle();
  assert.equal(mayBlock, [false]);
});

blocking.run();
