// timeout: 120s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inProcess, lines, ownLeader, ownWorker, stage, troupe, workerOf } from './troupe.js';

const control = suite('control by the command');

control('`ls` finds jobs by every filter', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const submit = async (...words: string[]): Promise<string> =>
    (await inProcess(['submit', ...words, ...to])).out.trim();
  const first = await submit('mail.send', '1', '--idempotency-key', 'k1', '--tag', 'red', '--tag', 'big');
  const second = await submit('mail.send', '2', '--order-key', 'ann', '--priority', '9');
  const third = await submit('other.job', '3', '--group', 'special');
  const found = async (...words: string[]): Promise<unknown[]> =>
    lines(await inProcess(['ls', ...words, '--json', ...to])).map(({ id }) => id);
  assert.equal(await found(), [first, second, third]);
  assert.equal(await found('--exec', 'mail.send'), [first, second]);
  assert.equal(await found('--idempotency-key', 'k1'), [first]);
  assert.equal(await found('--order-key', 'ann'), [second]);
  assert.equal(await found('--tag', 'big'), [first]);
  assert.equal(await found('--group', 'special', '--state', 'queued'), [third]);
  assert.equal(await found('--since', '1h', '--max', '2'), [first, second]);
  assert.equal(await found('--until', '2020-01-01T00:00Z'), []);
  assert.match(
    (await inProcess(['ls', '--exec', 'other.job', ...to])).out,
    /^ID .*\n\S+ +queued +other\.job/,
  );
  assert.is((await inProcess(['ls', '--since', 'yesterday', ...to])).code, 64);
});

control(
  '`ls` goes on behind a job, says that there are more, and has the error of a dead letter',
  async () => {
    await using s = await ownLeader();
    await using worker = await ownWorker(s);
    assert.ok(worker);
    const to = ['--leader', s.at];
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1)
      ids.push((await inProcess(['submit', 'math.fail', String(n), '--attempts', '1', ...to])).out.trim());
    for (const id of ids) assert.is((await inProcess(['await', id, ...to])).code, 1);
    const first = await inProcess(['ls', '--max', '2', ...to]);
    assert.match(first.out, /\n\S+ +dead +math\.fail .* failed: Error: it never works\n/);
    assert.is(first.err, `troupe: more jobs fit; go on with --after ${ids[1]}, or give a larger --max\n`);
    const rest = await inProcess(['ls', '--max', '2', '--after', ids[1] ?? '', '--json', ...to]);
    assert.equal([lines(rest).map(({ id }) => id), rest.err], [[ids[2]], '']);
    assert.is((await inProcess(['ls', '--max', '3', ...to])).err, '');
    assert.is((await inProcess(['ls', '--after', 'other-1', ...to])).code, 66);
    assert.match((await inProcess(['dlq', 'ls', '--max', '2', ...to])).err, /^troupe: there are more; /);
    const napping = ['submit', 'slow.pages', '60000', ...to];
    await inProcess(napping);
    for (;;) {
      const { out } = await inProcess(['ls', '--state', 'running', ...to]);
      if (/SUBMITTED +WORKER +REASON\n.* w1~/.test(out)) break;
    }
  },
);

control('`explain` says why a job waits, and `queue` pauses, drains, limits and resumes', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const id = (await inProcess(['submit', 'math.add', '[1,2]', ...to])).out.trim();
  const lonely = await inProcess(['explain', id, ...to]);
  assert.match(lonely.out, /waits:\n- no worker is connected; see troupe worker\n/);
  assert.match((await inProcess(['queue', 'pause', 'math.add', ...to])).out, /math\/math\.add +paused/);
  await using worker = await ownWorker(s);
  assert.ok(worker);
  assert.match(
    (await inProcess(['explain', id, ...to])).out,
    /- queue math\/math\.add is paused since .*; see troupe queue resume/,
  );
  const [explained] = lines(await inProcess(['explain', id, '--json', ...to]));
  assert.equal([explained?.['id'], explained?.['state']], [id, 'queued']);
  assert.match((await inProcess(['queue', 'resume', 'math.add', ...to])).out, /math\/math\.add +open/);
  assert.is((await inProcess(['await', id, ...to])).out, '3\n');
  assert.match((await inProcess(['explain', id, ...to])).out, /is done/);
  const gone = await inProcess(['show', id, '--payload', ...to]);
  assert.is(gone.code, 66);
  assert.match(gone.err, /its payload is gone, as it has ended; see troupe await for its output\n$/);
  assert.match((await inProcess(['queue', 'drain', 'math.add', ...to])).out, /draining/);
  assert.is((await inProcess(['submit', 'math.add', '[1,2]', ...to])).code, 75);
  const limited = ['queue', 'limits', 'text.echo', '--running-max', '3', '--rate', '100/1s/20', ...to];
  assert.match((await inProcess(limited)).out, /running 3, rate 100\/1s\/20/);
  const shown = ['queue', 'limits', 'text.echo', ...to];
  assert.match((await inProcess(shown)).out, /running 3, rate 100\/1s\/20/, 'a look changes nothing');
  const all = lines(await inProcess(['queue', 'ls', '--json', ...to]));
  assert.equal(all.map(({ queue, mode }) => [queue, mode]).sort(), [
    ['math/math.add', 'draining'],
    ['text/text.echo', 'open'],
  ]);
  const stats = await inProcess(['queue', 'stats', ...to]);
  assert.match(stats.out, /^EXEC +QUEUED +RUNNING +OLDEST/);
  assert.ok(
    lines(await inProcess(['queue', 'stats', '--json', ...to])).every(
      (one) => typeof one['exec'] === 'string',
    ),
  );
  for (const [words, code] of [
    [['explain', 'other-1'], 66],
    [['queue', 'pause', 'not a queue'], 64],
    [['queue', 'limits', 'a.b', '--rate', 'fast'], 64],
    [['queue', 'limits', 'a.b', '--running-max', '0'], 64],
    [['queue', 'limits', 'a.b', '--running-max', '1', '--none'], 64],
    [['queue', 'limits', 'a.b'], 66],
  ] as const)
    assert.is((await inProcess([...words, ...to])).code, code, words.join(' '));
  const [none] = lines(await inProcess([...shown, '--none', '--json']));
  assert.equal(none?.['limits'], {});
});

control('a job for an instant waits until then, and shows its keys, priority and tags', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const at = ['--run-at', '2040-01-02T03:04Z', '--idempotency-key', 'k1', '--tag', 'red', '--tag', 'big'];
  const ordered = ['--order-key', 'ann', '--priority', '9'];
  const id = (await inProcess(['submit', 'mail.send', '1', ...at, ...ordered, ...to])).out.trim();
  const [shown] = lines(await inProcess(['show', id, '--json', ...to]));
  assert.equal([shown?.['key'], shown?.['tags'], shown?.['startedAt']], ['k1', ['red', 'big'], null]);
  assert.equal([shown?.['orderKey'], shown?.['priority']], ['ann', 9]);
  const text = (await inProcess(['show', id, ...to])).out;
  assert.match(text, /\nkey +k1\norder key +ann\npriority +9\ntags +red big\n/);
  assert.match((await inProcess(['explain', id, ...to])).out, /- it is due in \d+ d, at 2040-01-02T03:0/);
  for (const words of [
    ['--run-at', 'tomorrow'],
    ['--run-at', '2040-13-45'],
    [...at, '--delay', '1s'],
  ]) {
    const refused = await inProcess(['submit', 'mail.send', '1', ...words, ...to]);
    assert.is(refused.code, 64, refused.err);
    assert.is(refused.err.trim().split('\n').length, 1);
  }
});

control(
  'dead letters are grouped, counted by a dry run, driven by filter and with another input; the audit has it',
  async () => {
    await using s = await ownLeader();
    await using worker = await ownWorker(s);
    assert.ok(worker);
    const to = ['--leader', s.at];
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1)
      ids.push((await inProcess(['submit', 'math.fail', String(n), '--attempts', '1', ...to])).out.trim());
    for (const id of ids) assert.is((await inProcess(['await', id, ...to])).code, 1);
    const explained = (await inProcess(['explain', ids[0] ?? '', ...to])).out;
    assert.is(explained, `${ids[0]} is dead: failed; see troupe dlq show\n`);
    const [group] = lines(await inProcess(['dlq', 'groups', '--json', ...to]));
    assert.equal([group?.['count'], group?.['exec'], group?.['ids']], [3, 'math.fail', ids]);
    assert.match(
      (await inProcess(['dlq', 'groups', ...to])).out,
      /^COUNT.*\n3 +\S+ +math\.fail .*it never works/,
    );
    const by = ['--fingerprint', String(group?.['fingerprint'])];
    assert.is(
      (await inProcess(['dlq', 'redrive', ...by, '--dry-run', ...to])).out,
      '3 would be queued again\n',
    );
    assert.is(
      (await inProcess(['dlq', 'redrive', ...by, '--per-second', '100', ...to])).out,
      '3 of 3 queued again\n',
    );
    for (const id of ids) assert.is((await inProcess(['await', id, ...to])).code, 1);
    const dead = ids[0] ?? '';
    assert.is((await inProcess(['dlq', 'show', dead, '--payload', ...to])).out, '0\n');
    const edited = await troupe(['dlq', 'redrive', dead, '--payload', '-', ...to], { stdin: '{"n": 7}' });
    assert.match(edited.out, /with another input/, edited.err);
    const [shown] = lines(await inProcess(['show', dead, '--payload', '--json', ...to]));
    assert.equal(shown, { id: dead, payload: { n: 7 } });
    assert.is((await inProcess(['await', ids[0] ?? '', ...to])).code, 1);
    for (const words of [
      ['dlq', 'redrive'],
      ['dlq', 'redrive', 'x', '--all'],
      ['dlq', 'redrive', 'x', '--dry-run'],
    ])
      assert.is((await inProcess([...words, ...to])).code, 64, words.join(' '));
    const acts = lines(await inProcess(['audit', '--json', ...to])).map(({ action }) => action);
    assert.ok(
      acts.some((action) => String(action).startsWith('redrive')),
      JSON.stringify(acts),
    );
    assert.match((await inProcess(['audit', '--max', '1', ...to])).out, /^NO +AT +BY +ACTION/);
  },
);

control('jobs are counted, then cancelled by filter; a failed job shows its attempts', async () => {
  await using s = await ownLeader();
  await using worker = await ownWorker(s);
  assert.ok(worker);
  const to = ['--leader', s.at];
  for (let n = 0; n < 3; n += 1)
    await inProcess(['submit', 'math.add', '[1,2]', '--delay', '1h', '--tag', 'late', ...to]);
  const by = ['cancel', '--tag', 'late'];
  assert.is((await inProcess([...by, ...to])).out, '3 would be cancelled; say --yes\n');
  assert.is((await inProcess([...by, '--dry-run', ...to])).out, '3 would be cancelled; say --yes\n');
  const [report] = lines(await inProcess([...by, '--yes', '--reason', 'wrong list', '--json', ...to]));
  assert.equal(report, { matched: 3, cancelled: 3, dryRun: false });
  assert.match((await inProcess(['ls', '--tag', 'late', ...to])).out, /(\S+ +cancelled .*wrong list\n){3}/);
  for (const words of [['cancel'], [...by, 'x'], ['cancel', 'x', '--yes'], [...by, '--yes', '--dry-run']])
    assert.is((await inProcess([...words, ...to])).code, 64, words.join(' '));
  assert.is((await inProcess([...by, '--state', 'dead', ...to])).code, 64);
  const dead = (await inProcess(['submit', 'math.fail', '1', '--attempts', '1', ...to])).out.trim();
  assert.is((await inProcess(['await', dead, ...to])).code, 1);
  assert.match(
    (await inProcess(['show', dead, ...to])).out,
    /\nattempt +1 failed 20\S+Z after \d+ ms on \S+: Error: it never works\n/,
  );
  const [shown] = lines(await inProcess(['show', dead, '--json', ...to]));
  const { attempts } = shown as unknown as { attempts: readonly { ending: string }[] };
  assert.equal(
    attempts.map(({ ending }) => ending),
    ['failed'],
  );
});

control('a worker is made quiet, resumed and stopped from afar; clients are listed', async () => {
  await using s = await stage();
  await using worker = await workerOf(s.at, s.dir);
  const to = ['--leader', s.at];
  assert.match((await inProcess(['workers', 'quiet', 'w1', ...to])).out, /^w1 quiet, 1 process\n$/);
  assert.match((await inProcess(['workers', 'ls', ...to])).out, /w1\S* +quiet/);
  const held = (await inProcess(['submit', 'math.add', '[1,2]', ...to])).out.trim();
  const explained = (await inProcess(['explain', held, ...to])).out;
  assert.match(explained, /1 connected, 1 of them with its handler, 1 made quiet by an operator; see troupe/);
  const [resumed] = lines(await inProcess(['workers', 'resume', 'w1', '--json', ...to]));
  assert.equal(resumed, { worker: 'w1', resumed: 1 });
  assert.is((await inProcess(['run', 'math.add', '[1,2]', ...to])).out, '3\n');
  assert.is((await inProcess(['workers', 'stop', 'w1', ...to])).code, 0);
  assert.is(await worker.exited, 0);
  const unknown = await inProcess(['workers', 'stop', 'nowhere', ...to]);
  assert.is(unknown.code, 66);
  assert.match(unknown.err, /see troupe workers ls\n$/);
  const [own] = lines(await inProcess(['clients', 'ls', '--json', ...to]));
  assert.match(String(own?.['client']), /cli/);
  assert.is(own?.['runningMax'], null, 'no limit');
  const clients = (await inProcess(['clients', 'ls', ...to])).out;
  assert.match(clients, /^CLIENT +SINCE/);
  assert.not.match(clients, String(Number.MAX_SAFE_INTEGER), 'no limit is not a number');
});

control('a job that requires a label runs on a worker with it', async () => {
  await using s = await stage();
  await using worker = await workerOf(s.at, s.dir, ['--label', 'gpu']);
  assert.ok(worker);
  const to = ['--leader', s.at];
  assert.is((await inProcess(['run', 'math.add', '[1,2]', '--require', 'gpu', ...to])).out, '3\n');
  const id = (await inProcess(['submit', 'math.add', '[1,2]', '--require', 'tpu', ...to])).out.trim();
  assert.match((await inProcess(['explain', id, ...to])).out, /no worker serves it with label tpu/);
  assert.match((await inProcess(['workers', 'ls', ...to])).out, /^WORKER .*LABELS\n.* gpu\n$/);
});

control.run();
