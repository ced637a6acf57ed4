// The format of the records' content: kept in STORE, checked before anything is changed, raised by an opening.
import { type ContentFormat, type Log, repairWal, WalContentError } from '@troupe/wal';
import { PERSISTENCE_MODELS, SimulatedDisk } from '@troupe/wal/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decodeStoreIdentity } from '#src/format/store-identity.js';
import { LogHarness } from '../log-harness.js';

const formats = suite('content format');

const V1_0: ContentFormat = { name: 'diary', major: 1, minor: 0, since: '1.0.0' };
const V1_1: ContentFormat = { ...V1_0, minor: 1, since: '1.4.0' };

function closedLog(content: ContentFormat | undefined): LogHarness {
  const harness = new LogHarness();
  const log = harness.open({ content });
  log.append(Buffer.from('one'));
  harness.settle();
  close(harness, log);
  return harness;
}

function close(harness: LogHarness, log: Log): void {
  harness.wait<void>((done) => log.close(done));
}

function files(harness: LogHarness): Map<string, string> {
  return new Map([...harness.storage.disk.files()].map(([name, bytes]) => [name, bytes.toString('hex')]));
}

function stored(harness: LogHarness): ContentFormat | undefined {
  const bytes = new Map(harness.storage.disk.files()).get('STORE');
  return decodeStoreIdentity(bytes as Buffer).content;
}

formats('the format is kept in STORE, and an opening of a higher minor raises it', () => {
  const harness = closedLog(V1_0);
  assert.equal(stored(harness), V1_0);
  close(harness, harness.open({ content: V1_1 }));
  assert.equal(stored(harness), V1_1);
  assert.is(harness.replay(harness.open({ content: V1_1 })).length, 1);
});

formats('a newer, foreign or missing format is refused, and no byte of the directory changes', () => {
  const cases: readonly (readonly [ContentFormat | undefined, ContentFormat])[] = [
    [V1_1, V1_0],
    [{ ...V1_0, major: 2 }, V1_0],
    [V1_0, { ...V1_0, major: 2 }],
    [{ ...V1_0, name: 'atlas' }, V1_0],
    [undefined, V1_0],
  ];
  for (const [found, own] of cases) {
    const harness = closedLog(found);
    const before = files(harness);
    const refused = harness.tryOpen({ content: own });
    assert.instance(refused, WalContentError);
    assert.equal(
      [(refused as WalContentError).code, (refused as WalContentError).exitCode],
      ['ERR_WAL_CONTENT', 65],
    );
    assert.equal((refused as WalContentError).found, found);
    assert.equal(files(harness), before);
  }
});

formats('a program that states no format opens any log and leaves its format', () => {
  const harness = closedLog(V1_1);
  close(harness, harness.open());
  assert.equal(stored(harness), V1_1);
});

formats(
  'after a crash at any call of an opening that raises the format, the log opens with its record',
  () => {
    const disk = closedLog(V1_0).storage.disk;
    let crashes = 0;
    for (const model of PERSISTENCE_MODELS) {
      const opening = new LogHarness({
        disk: SimulatedDisk.withFiles(disk.files()),
        afterCall: (call) => {
          const crashed = new LogHarness({ disk: opening.storage.disk.afterCrash(model, call.index) });
          const log = crashed.open({ content: V1_1 });
          assert.equal(stored(crashed), V1_1);
          assert.is(crashed.replay(log).length, 1, `${model}: after call ${call.index}`);
          crashes += 1;
        },
      });
      opening.open({ content: V1_1 });
    }
    assert.ok(crashes > 0);
  },
);

formats('a repair keeps the format, and takes the one given where STORE is lost', async () => {
  for (const [lost, given, kept] of [
    [false, undefined, V1_1],
    [false, V1_0, V1_1],
    [true, V1_0, V1_0],
    [true, undefined, undefined],
  ] as const) {
    const harness = closedLog(V1_1);
    if (lost) harness.storage.disk.unlink('STORE');
    const repaired = repairWal(harness.storage, { acceptLoss: true, host: harness.host, content: given });
    harness.settle();
    assert.is((await repaired).recordsKept, 1);
    assert.equal(stored(harness), kept);
  }
});

formats.run();
