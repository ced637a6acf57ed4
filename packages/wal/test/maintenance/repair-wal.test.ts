import { type DumpedEntry, type RepairReport, WalCorruptError } from '@troupe/wal';
import { SimulatedDisk } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { dump } from '#src/maintenance/dump-wal.js';
import { repair } from '#src/maintenance/repair-wal.js';
import { runCoroutine } from '#src/storage/coroutine.js';
import { LogHarness, textOf } from '../log-harness.js';

const repairs = suite('repair');

/** The files of a closed log of forty records in small segments. */
function filesOfLog(): Map<string, Buffer> {
  const harness = new LogHarness();
  const log = harness.open();
  for (let index = 0; index < 40; index += 1) {
    log.append(Buffer.from(textOf(index)));
    harness.settle();
  }
  harness.wait<void>((done) => log.close(done));
  return harness.storage.disk.files();
}

function flip(files: Map<string, Buffer>, name: string, offset: number): void {
  const bytes = files.get(name);
  if (bytes === undefined) throw new Error(`no ${name} among ${[...files.keys()].join(' ')}`);
  bytes[offset] = (bytes[offset] ?? 0) ^ 0x10;
}

function repaired(harness: LogHarness, acceptLoss: boolean): RepairReport {
  return harness.wait<RepairReport>((done) =>
    runCoroutine(repair(harness.storage, { acceptLoss, host: harness.host }), done),
  );
}

repairs('a missing segment is named, and its records up to the mark are lost', () => {
  const writer = new LogHarness();
  const log = writer.open({ segmentBytes: 65_536, firstSegmentBytes: 65_536 });
  for (let index = 0; index < 7; index += 1) log.append(Buffer.from(textOf(index)));
  writer.settle();
  writer.advance(60);
  const files = writer.storage.disk.files();
  files.delete('wal-0000000001.seg');
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files), seed: 2 });
  assert.instance(harness.tryOpen(), WalCorruptError);
  for (const acceptLoss of [false, true]) {
    const report = repaired(harness, acceptLoss);
    assert.is(report.recordsKept, 0);
    assert.equal(report.missing, ['wal-0000000001.seg']);
    assert.equal(
      report.lost.map(({ from, to }) => [from, to]),
      [[1, 7]],
    );
  }
  assert.is(harness.open().nextLsn, 8);
});

repairs('a missing or damaged EPOCH or MARK is made anew without a loss', () => {
  for (const name of ['EPOCH', 'MARK']) {
    for (const content of [undefined, Buffer.alloc(100, 7)]) {
      const files = filesOfLog();
      if (content === undefined) files.delete(name);
      else files.set(name, content);
      const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files) });
      assert.instance(harness.tryOpen(), WalCorruptError, name);
      assert.equal(repaired(harness, true).lost, []);
      assert.is(harness.replay(harness.open()).length, 40, name);
    }
  }
});

repairs('damage is given up only with `acceptLoss`, and the LSNs of lost records are not reused', () => {
  const files = filesOfLog();
  flip(files, 'wal-0000000002.seg', 4_096 + 60);
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files) });
  const refused = harness.tryOpen();
  assert.instance(refused, WalCorruptError);
  const { damage } = refused as WalCorruptError;
  assert.is(damage.file, 'wal-0000000002.seg');
  assert.is(damage.offset, 4_096);

  const dryRun = repaired(harness, false);
  assert.is(dryRun.applied, false);
  assert.instance(harness.tryOpen(), WalCorruptError, 'a dry run changes nothing');
  assert.equal(
    dryRun.lost.map(({ from, to }) => [from, to]),
    [[damage.firstLsn, damage.firstLsn]],
  );

  const report = repaired(harness, true);
  assert.is(report.recordsKept, 39);
  assert.equal(report.quarantined, ['wal-0000000002.seg']);
  const log = harness.open();
  const seen = harness.replay(log);
  assert.equal(
    seen.map(({ lsn }) => lsn),
    Array.from({ length: 40 }, (_, index) => index + 1).filter((lsn) => lsn !== damage.firstLsn),
  );
  for (const { lsn, text } of seen) assert.is(text, textOf(lsn - 1));
  assert.is(log.nextLsn, 41);
  assert.ok(harness.storage.disk.files().has('quarantine/wal-0000000002.seg.repaired-epoch-1'));
  harness.wait<void>((done) => log.close(done));
  const again = harness.open();
  assert.is(harness.replay(again).length, 39, 'the loss is recorded in the manifest');
});

repairs('records lost at the end of the log are reported, and the next LSN follows them', () => {
  const files = filesOfLog();
  const segments = [...files.keys()].filter((name) => name.endsWith('.seg')).sort();
  const last = segments.at(-2) ?? '';
  files.delete(last);
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files) });
  assert.instance(harness.tryOpen(), WalCorruptError);
  const report = repaired(harness, true);
  assert.is(report.lost.length, 1);
  const log = harness.open();
  const [loss] = report.lost;
  assert.ok(loss !== undefined && loss.from <= loss.to);
  assert.is(harness.replay(log).length, 40 - ((loss?.to ?? 0) - (loss?.from ?? 0) + 1));
});

repairs('without a readable CURRENT the manifest is rebuilt from the segment headers', () => {
  const files = filesOfLog();
  flip(files, 'CURRENT', 50);
  flip(files, 'STORE', 50);
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files) });
  assert.instance(harness.tryOpen(), WalCorruptError);
  const report = repaired(harness, true);
  assert.equal(report.lost, []);
  assert.is(harness.replay(harness.open()).length, 40);
});

repairs('`scrub` finds a bit that flipped while the log was open', () => {
  const harness = new LogHarness();
  const log = harness.open();
  for (let index = 0; index < 30; index += 1) {
    log.append(Buffer.from(textOf(index)));
    harness.settle();
  }
  harness.storage.disk.flipBits('wal-0000000001.seg', 4_150, 0x40);
  let damaged = '';
  log.scrub((_error, report) => {
    damaged = report.damage.map(({ file, offset }) => `${file}@${offset}`).join();
  });
  harness.advance(1_000);
  assert.is(damaged, 'wal-0000000001.seg@4096');
  assert.ok(harness.events.some(({ kind }) => kind === 'scrub-damage'));
  assert.ok(log.append(Buffer.from('after the scrub')) > 0);
});

repairs('`dump` shows the damage and the records before it', () => {
  const files = filesOfLog();
  flip(files, 'wal-0000000002.seg', 8_192 + 44);
  const harness = new LogHarness({ disk: SimulatedDisk.withFiles(files) });
  const entries: DumpedEntry[] = [];
  harness.wait<void>((done) =>
    runCoroutine(
      dump(harness.storage, (entry) => entries.push(entry)),
      done,
    ),
  );
  const damage = entries.filter(({ kind }) => kind === 'damage');
  assert.is((damage[0] as { file: string }).file, 'wal-0000000002.seg');
  assert.ok(entries.length > 3);
});

repairs.run();
