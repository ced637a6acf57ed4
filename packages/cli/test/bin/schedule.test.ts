import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inProcess, lines, ownLeader, ownWorker } from './troupe.js';

const schedules = suite('schedules by the command');

schedules('a schedule is added, listed, run, paused, resumed and removed', async () => {
  await using s = await ownLeader();
  await using worker = await ownWorker(s);
  assert.ok(worker);
  const to = ['--leader', s.at];
  const cron = ['--cron', '0 3 * * *', '--zone', 'Europe/Berlin'];
  const added = await inProcess(['schedule', 'add', 'nightly', 'math.add', '[1,2]', ...cron, ...to]);
  assert.is(added.code, 0, added.err);
  assert.match(added.out, /nightly +math\.add +0 3 \* \* \* Europe\/Berlin +20\d\d-/);
  assert.is(
    (await inProcess(['schedule', 'add', 'often', 'text.echo', '1', '--every', '1h', ...to])).code,
    0,
  );
  const daily = ['--every', '1d', '--from', '2026-01-01T09:30Z'];
  const begun = await inProcess(['schedule', 'add', 'daily', 'text.echo', '1', ...daily, '--json', ...to]);
  assert.match(String(lines(begun)[0]?.['next']), /T09:30:00\.000Z$/);
  assert.is((await inProcess(['schedule', 'rm', 'daily', ...to])).code, 0);
  const all = lines(await inProcess(['schedule', 'ls', '--next', '10', '--json', ...to]));
  assert.equal(
    all.map(({ name, next }) => [name, (next as string[]).length]),
    [
      ['nightly', 10],
      ['often', 10],
    ],
  );
  const table = (await inProcess(['schedule', 'ls', '--next', '3', ...to])).out.trim().split('\n');
  assert.is(table.length, 1 + 2 * 3);
  assert.match(table[2] ?? '', /^ +20\d\d-\d\d-\d\dT0[12]:00/);
  const [ran] = lines(await inProcess(['schedule', 'run', 'nightly', '--json', ...to]));
  assert.is(ran?.['runs'], 1);
  assert.is((await inProcess(['await', String(ran?.['lastJob']), ...to])).out, '3\n');
  assert.match((await inProcess(['schedule', 'pause', 'nightly', ...to])).out, / paused /);
  assert.match((await inProcess(['schedule', 'resume', 'nightly', ...to])).out, /20\d\d-\d\d-\d\dT0[12]:00/);
  assert.is((await inProcess(['schedule', 'rm', 'nightly', ...to])).out, 'nightly removed\n');
  assert.match((await inProcess(['schedule', 'ls', ...to])).out, /^NAME.*\noften .*every 1h /);
});

schedules('a schedule whose queue is drained says so until the queue is resumed', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  await inProcess(['schedule', 'add', 'often', 'text.echo', '1', '--every', '1h', ...to]);
  const queues = async () =>
    lines(await inProcess(['schedule', 'ls', '--json', ...to])).map(({ drainedQueue }) => drainedQueue);
  for (const [given, shown] of [
    ['text.echo', 'text/text.echo'],
    ['*', '*'],
  ] as const) {
    await inProcess(['queue', 'drain', given, ...to]);
    assert.equal(await queues(), [shown]);
    const table = (await inProcess(['schedule', 'ls', ...to])).out;
    assert.ok(table.includes(`, waits: queue ${shown} is drained `), table);
    await inProcess(['queue', 'resume', given, ...to]);
    assert.equal(await queues(), [null]);
  }
});

schedules('bad schedules are refused with what to do, and change nothing', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const add = ['schedule', 'add', 'x', 'math.add', '1', ...to];
  const refused: readonly [readonly string[], number, RegExp][] = [
    [[...add, '--cron', '61 * * * *'], 64, /^troupe: schedule-set refused: /],
    [[...add, '--cron', '* * * * *', '--zone', 'Nowhere/City'], 64, /refused: /],
    [add, 64, /schedule add: give either --cron or --every/],
    [[...add, '--every', '1h', '--cron', '@daily'], 64, /give either --cron or --every/],
    [[...add, '--every', '1h', '--zone', 'UTC'], 64, /--zone is for --cron/],
    [[...add, '--every', '-1s'], 64, /--every/],
    [[...add, '--every', '1h', '--from', 'noon'], 64, /a date such as/],
    [[...add, '--cron', '@daily', '--from', '2026-11-18T10:00Z'], 64, /--from is for --every/],
    [[...add, '--every', '1h', '--catch-up', 'some'], 64, /none, last or a number/],
    [['schedule', 'run', 'missing', ...to], 66, /see troupe schedule ls\n$/],
    [['schedule', 'rm', 'missing', ...to], 66, /there is no schedule 'missing'/],
  ];
  for (const [words, code, text] of refused) {
    const ended = await inProcess(words);
    assert.is(ended.code, code, `${words.join(' ')}: ${ended.err}`);
    assert.match(ended.err, text);
    assert.is(ended.err.trim().split('\n').length, 1);
  }
  assert.equal(lines(await inProcess(['schedule', 'ls', '--json', ...to])), []);
});

schedules.run();
