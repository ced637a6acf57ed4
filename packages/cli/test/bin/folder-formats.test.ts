// timeout: 120s
import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LEDGER_FORMAT } from '@troupe/jobs';
import { openWal } from '@troupe/wal';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, inProcess, lines, ownLeader, Running } from './troupe.js';

const formats = suite('formats of a folder by the command');

/** Without the LSN, which is another in another folder. */
function contents(all: readonly Record<string, unknown>[]): unknown[] {
  return all.map(({ lsn: _lsn, ...line }) => line);
}

formats(
  'a dump that an editor has cut is loaded, and a leader runs on it; a bad cut names its line',
  async () => {
    await using s = await ownLeader();
    const to = ['--leader', s.at];
    for (const n of [1, 2, 3])
      await inProcess(['submit', 'math.add', `[${n},2]`, '--idempotency-key', `k${n}`, ...to]);
    await s.end();
    const state = join(s.dir, 'state');
    const dumped = await inProcess(['wal', 'dump', state]);
    const file = join(s.dir, 'records.jsonl');
    const all = dumped.out.trimEnd().split('\n');

    await writeFile(file, dumped.out);
    const whole = await inProcess(['wal', 'load', join(s.dir, 'whole'), '--file', file]);
    assert.is(whole.code, 0, whole.err);
    assert.match(whole.out, /: \d+ lines, 3 jobs queued, 0 running, 0 dead\n$/);
    assert.equal(
      contents(lines(await inProcess(['wal', 'dump', join(s.dir, 'whole')]))),
      contents(lines(dumped)),
    );

    await writeFile(file, all.filter((line) => !line.includes('"key":"k2"')).join('\n'));
    const [cut] = lines(await inProcess(['wal', 'load', join(s.dir, 'cut'), '--file', file, '--json']));
    assert.equal((cut?.['counts'] as object | undefined) ?? {}, {
      queued: 2,
      running: 0,
      done: 0,
      dead: 0,
      cancelled: 0,
    });
    {
      await using leader = new Running(['leader', '--port', '0', '--dir', join(s.dir, 'cut')]);
      assert.is(((await leader.first)['counts'] as { queued: number }).queued, 2);
    }

    const producer = all.findIndex((line) => line.includes('"type":"producer"'));
    await writeFile(file, all.filter((_, index) => index !== producer).join('\n'));
    const refused = await inProcess(['wal', 'load', join(s.dir, 'bad'), '--file', file]);
    assert.is(refused.code, 65);
    assert.match(
      refused.err,
      /^troupe: line \d+: producer 1 is unknown; mend it, or cut every line of that job\n$/,
    );
    const sizes = await inProcess(['wal', 'dump', state, '--no-payloads']);
    await writeFile(file, sizes.out);
    assert.match(
      (await inProcess(['wal', 'load', join(s.dir, 'bad'), '--file', file])).err,
      /payload must be there/,
    );
    assert.not.ok(
      (await readdir(s.dir)).some((name) => name.startsWith('bad')),
      'nothing is left of it',
    );
    assert.is((await inProcess(['wal', 'load', state, '--file', file])).code, 73, 'it is not empty');
  },
);

formats('`grep -a` finds the records of a leader with --log-format jsonl while it runs', async () => {
  await using own = await folder();
  const state = join(own.dir, 'state');
  await using leader = new Running(['leader', '--port', '0', '--dir', state, '--log-format', 'jsonl']);
  const at = String((await leader.first)['address']);
  await inProcess(['submit', 'math.add', '{"a":1,"b":[2]}', '--leader', at]);
  const found = await promisify(execFile)('grep', ['-a', '-h', '-r', '"type":"enqueue"', state]);
  assert.match(found.stdout, /"event":\{"type":"enqueue",.*"payload":\{"a":1,"b":\[2\]\}/);
  assert.ok(lines(await inProcess(['wal', 'dump', state])).some(({ type }) => type === 'enqueue'));
});

formats('a folder of a newer version is refused by leader and dump shows it (exit 65)', async () => {
  await using s = await ownLeader();
  await s.end();
  const state = join(s.dir, 'state');
  const content = { ...LEDGER_FORMAT, minor: LEDGER_FORMAT.minor + 1, since: '9.8.7' };
  await (await openWal({ dir: state, content })).close();
  const refused = await inProcess(['leader', '--port', '0', '--dir', state]);
  assert.is(refused.code, 65);
  assert.match(refused.err, /start version 9\.8\.7 or later, nothing was changed\n$/);
});

formats.run();
