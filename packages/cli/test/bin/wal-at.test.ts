import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inProcess, lines, ownLeader, ownWorker, troupe } from './troupe.js';

const at = suite('moments of a log by the command');

at('`wal at` shows the jobs after a record, and its state becomes a folder', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const id = (await inProcess(['submit', 'math.add', '[1,2]', ...to])).out.trim();
  {
    await using worker = await ownWorker(s);
    assert.ok(worker);
    assert.is((await inProcess(['await', id, ...to])).out, '3\n');
  }
  await s.end();
  const state = join(s.dir, 'state');
  const records = lines(await inProcess(['wal', 'dump', state]));
  const lsnOf = (type: string) => String(records.find((line) => line['type'] === type)?.['lsn']);
  const queued = await inProcess(['wal', 'at', state, lsnOf('enqueue')]);
  assert.is(queued.code, 0, queued.err);
  assert.match(queued.out, /^after record \d+, .*: 1 queued, 0 running, 0 done/);
  assert.match(queued.out, /record: .*"type":"enqueue".*"payloadBytes":5/);
  const [done] = lines(await inProcess(['wal', 'at', state, lsnOf('ack'), '--json']));
  assert.is((done?.['counts'] as { done: number } | undefined)?.done, 1);
  const [job] = lines(await inProcess(['wal', 'at', state, lsnOf('assign'), '--job', id]));
  assert.is(job?.['state'], 'running');
  const lost = await inProcess(['wal', 'at', state, '1', '--job', id]);
  assert.is(lost.code, 66);
  const then = join(s.dir, 'then');
  const past = await inProcess(['wal', 'at', state, lsnOf('enqueue'), '--state']);
  const loaded = await troupe(['wal', 'load', then], { stdin: past.out });
  assert.is(loaded.code, 0, loaded.err);
  assert.match(loaded.out, /1 jobs queued, 0 running/);
});

at('a record that is not in the log is exit 66 with the last one there', async () => {
  await using s = await ownLeader();
  await s.end();
  const state = join(s.dir, 'state');
  const ended = await inProcess(['wal', 'at', state, '999999']);
  assert.is(ended.code, 66);
  assert.match(ended.err, /^troupe: record 999999: not in this log, the last record is \d+; name a record/);
  assert.is((await inProcess(['wal', 'at', state, '0'])).code, 64);
  assert.is((await inProcess(['wal', 'at', s.dir, '1'])).code, 66);
});

at.run();
