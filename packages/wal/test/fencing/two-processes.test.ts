// timeout: 240s
// Two processes on one directory, neither of which sees the other's lock: every record that either of them
// acknowledged is in the log, under one LSN.
//
// Arguments: --seeds N (default 150).

import { SeededRandom } from '@troupe/core/testing';
import { inlineSnapshotBuilder, type Log, type WalError, type WalOptions } from '@troupe/wal';
import { PERSISTENCE_MODELS, type PersistenceModel, SimulatedDisk } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestFold } from '../digest-fold.js';
import { LogHarness } from '../log-harness.js';

const fencing = suite('two processes on one directory');
const at = process.argv.indexOf('--seeds');
const SEEDS = at < 0 ? 150 : Number(process.argv[at + 1]);

/** The texts of acknowledged records by LSN, of both processes: one each, or there are two logs. */
type Acknowledged = Map<number, string[]>;

/** Without a change of segments for long, so that only the acknowledgements meet the epoch. */
const ROOMY: WalOptions = { segmentBytes: 262_144, firstSegmentBytes: 262_144 };

class SimulatedProcess {
  readonly harness: LogHarness;
  log: Log | undefined;
  acknowledgedCount = 0;
  readonly errors: string[] = [];
  private readonly name: string;
  private readonly acknowledged: Acknowledged;
  private readonly sizes: WalOptions;
  private count = 0;
  private isOpening = false;

  constructor(name: string, disk: SimulatedDisk, seed: number, acknowledged: Acknowledged) {
    this.name = name;
    this.harness = new LogHarness({ disk, seed, ignoresLock: true });
    this.acknowledged = acknowledged;
    this.sizes = seed % 2 === 0 ? {} : ROOMY;
  }

  get hasEnded(): boolean {
    return this.harness.host.exits.length > 0;
  }

  open(): void {
    if (this.isOpening || this.log !== undefined) return;
    this.isOpening = true;
    this.harness.start(this.options(), (error, log) => {
      this.isOpening = false;
      if (error === null) this.log = log;
      else this.errors.push(error.message);
    });
  }

  append(): void {
    this.count += 1;
    const text = `${this.name} ${this.count}`;
    const lsn: number =
      this.log?.append(Buffer.from(text), (error) => {
        if (error === null) this.acknowledge(lsn, text);
      }) ?? 0;
  }

  snapshot(): void {
    this.log?.makeSnapshot(() => undefined);
  }

  /** Some of its calls complete, and maybe a timer fires. */
  run(random: SeededRandom): void {
    this.harness.storage.run(random.below(5));
    this.harness.host.runDeferred();
    if (random.chance(0.05)) this.harness.host.advance(60);
  }

  private acknowledge(lsn: number, text: string): void {
    this.acknowledged.set(lsn, [...(this.acknowledged.get(lsn) ?? []), text]);
    this.acknowledgedCount += 1;
  }

  private options(): WalOptions {
    const snapshotBuilder = inlineSnapshotBuilder(this.harness.storage, digestFold);
    return { snapshotBuilder, snapshotEveryBytes: 0, ...this.sizes };
  }
}

function textsOn(disk: SimulatedDisk): Map<number, string> {
  const harness = new LogHarness({ disk, seed: 77, ignoresLock: true });
  const log = harness.open();
  return new Map(harness.replay(log, { from: log.firstLsn }).map(({ lsn, text }) => [lsn, text]));
}

fencing('no acknowledged record is lost when a second process opens the directory', () => {
  const seen = { both: 0, first: 0, fenced: 0 };
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = new SeededRandom(seed);
    const disk = new SimulatedDisk();
    const acknowledged: Acknowledged = new Map();
    const first = new SimulatedProcess('first', disk, seed, acknowledged);
    const second = new SimulatedProcess('second', disk, seed + 1_000_000, acknowledged);
    first.open();
    first.harness.settle();
    const secondStartsAt = random.below(60);
    for (let turn = 0; turn < 160; turn += 1) {
      if (random.chance(0.6)) first.append();
      if (turn >= secondStartsAt) second.open();
      if (random.chance(0.6)) second.append();
      if (random.chance(0.05)) second.snapshot();
      first.run(random);
      second.run(random);
    }
    first.harness.settle();
    second.harness.settle();
    assert.ok(
      second.log !== undefined,
      `seed ${seed}: the second process opened the directory; ${second.errors.join('\n')}`,
    );
    assert.ok(
      first.harness.host.exits.every((code) => code === 73),
      `seed ${seed}: ${first.harness.host.exits}`,
    );
    const model = PERSISTENCE_MODELS[seed % PERSISTENCE_MODELS.length] as PersistenceModel;
    const found = textsOn(disk.afterCrash(model, seed));
    // A snapshot may have replaced the first records.
    const firstLsn = Math.min(...found.keys());
    for (const [lsn, texts] of acknowledged)
      if (lsn >= firstLsn) assert.equal(texts, [found.get(lsn)], `seed ${seed}: lsn ${lsn}, model ${model}`);
    if (first.acknowledgedCount > 0 && second.acknowledgedCount > 0) seen.both += 1;
    if (first.hasEnded) seen.fenced += 1;
    seen.first += first.acknowledgedCount;
  }
  assert.ok(seen.both > SEEDS / 2, `both acknowledged in only ${seen.both} schedules`);
  assert.ok(seen.fenced > SEEDS / 2, `the first process was fenced in only ${seen.fenced} schedules`);
});

fencing(
  'two processes that create a directory at the same moment lose no record that either acknowledged',
  () => {
    let total = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const random = new SeededRandom(seed);
      const disk = new SimulatedDisk();
      const acknowledged: Acknowledged = new Map();
      const processes = [1, 2].map(
        (index) => new SimulatedProcess(`p${index}`, disk, seed + index * 1_000_000, acknowledged),
      );
      for (const process of processes) process.open();
      for (let turn = 0; turn < 80; turn += 1) {
        for (const process of processes) {
          process.append();
          process.run(random);
        }
      }
      for (const process of processes) process.harness.settle();
      if (acknowledged.size === 0) continue;
      total += acknowledged.size;
      const found = textsOn(disk.afterCrash('keep', seed));
      for (const [lsn, texts] of acknowledged)
        assert.equal(texts, [found.get(lsn)], `seed ${seed}: lsn ${lsn}`);
    }
    assert.ok(total > SEEDS, `only ${total} records`);
  },
);

fencing(
  'a directory opens while its owner replaces CURRENT, at whatever call of the opening that happens',
  () => {
    // Up to the claim of the epoch; after it the owner is fenced.
    for (let calls = 0; calls < 25; calls += 1) {
      const owner = new LogHarness({ seed: calls });
      const log = owner.open();
      const second = new LogHarness({ disk: owner.storage.disk, seed: calls + 100, ignoresLock: true });
      let opened: Error | Log | undefined;
      second.start({}, (error, other) => {
        opened = error ?? other;
      });
      second.storage.run(calls);
      // Several segments, each of which makes CURRENT longer.
      for (let i = 0; i < 60; i += 1) {
        log.append(Buffer.alloc(1_500));
        owner.settle();
      }
      second.settle();
      assert.not(opened instanceof Error, `after ${calls} calls: ${String(opened)}`);
    }
  },
);

fencing('an opening that another overtakes, at whatever call, ends as fenced and not as damage', () => {
  let refusals = 0;
  for (let calls = 0; calls < 80; calls += 1) {
    const disk = directoryWithRecords(calls);
    const late = new LogHarness({ disk, seed: calls + 100, ignoresLock: true });
    let opened: Error | Log | undefined;
    late.start({}, (error, log) => {
      opened = error ?? log;
    });
    late.storage.run(calls);
    const winner = new LogHarness({ disk, seed: calls + 200, ignoresLock: true });
    const log = winner.open();
    for (let i = 0; i < 10; i += 1) log.append(Buffer.alloc(1_500));
    winner.settle();
    late.settle();
    if (!(opened instanceof Error)) continue;
    assert.match((opened as WalError).code, /FENCED|LOCKED/, `after ${calls} calls: ${opened}`);
    refusals += 1;
  }
  assert.ok(refusals > 20, `only ${refusals} openings were refused`);
});

fencing('an opening of a directory that another process is making takes nothing for damage', () => {
  for (let made = 0; made < 30; made += 1) {
    for (let read = 1; read < 6; read += 1) {
      const owner = new LogHarness({ seed: made });
      let log: Log | undefined;
      owner.start({}, (_error, own) => {
        log = own;
      });
      owner.storage.run(made);
      const second = new LogHarness({ disk: owner.storage.disk, seed: made + 100, ignoresLock: true });
      let opened: Error | Log | undefined;
      second.start({}, (error, other) => {
        opened = error ?? other;
      });
      second.storage.run(read);
      owner.settle();
      log?.append(Buffer.alloc(1_500));
      owner.settle();
      second.settle();
      const code = opened instanceof Error ? (opened as WalError).code : 'ERR_WAL_FENCED';
      assert.match(code, /FENCED|LOCKED/, `after ${made} and ${read} calls: ${String(opened)}`);
    }
  }
});

/** Left by a process that was killed: its last segment is open. */
function directoryWithRecords(seed: number): SimulatedDisk {
  const owner = new LogHarness({ seed });
  const log = owner.open();
  for (let i = 0; i < 20; i += 1) log.append(Buffer.alloc(1_500));
  owner.settle();
  owner.storage.killProcess();
  return owner.storage.disk;
}

fencing.run();
