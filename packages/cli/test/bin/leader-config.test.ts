// timeout: 180s
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, inProcess, ownLeader, Running, workerOf } from './troupe.js';

const operating = suite('limits, keys and flags of a leader');

operating(
  'a config file has the options of startLeader; flags win over it, unknown keys are refused',
  async () => {
    await using f = await folder();
    const file = join(f.dir, 'leader.json');
    const config = {
      dir: join(f.dir, 'configured'),
      address: { host: '127.0.0.1', port: 0 },
      limits: { jobsMax: 1 },
    };
    await writeFile(file, JSON.stringify(config));
    await using leader = new Running(['leader', '--config', file]);
    const ready = await leader.first;
    assert.is(ready['dir'], config.dir);
    const to = ['--leader', String(ready['address'])];
    assert.is((await inProcess(['submit', 'math.add', '[1,2]', ...to])).code, 0);
    assert.is((await inProcess(['submit', 'math.add', '[1,2]', ...to])).code, 75);
    const check = await inProcess(['check', ...to]);
    assert.is(check.code, 75);
    assert.match(
      check.out,
      /^not well: submits are refused: 1 jobs waiting or running, at most 1 \(ERR_QUEUE_FULL\)[^\n]*\nuse: jobs 1\/1, jobBytes \d+\/\d+, dead 0\/\d+, /,
    );
    assert.is(await leader.end(), 0);
    await using wider = new Running(['leader', '--config', file, '--jobs-max', '2']);
    const at = String((await wider.first)['address']);
    assert.is((await inProcess(['submit', 'math.add', '[1,2]', '--leader', at])).code, 0);
    const refused: readonly [unknown, number, RegExp][] = [
      [{ limit: {} }, 78, /limit: there is no such option; known are dir, address/],
      [{ labels: ['a b'] }, 64, /labels/],
      [{ transportLimits: { pings: 1 } }, 78, /transportLimits\.pings: there is no such option/],
      [{ limits: { jobs: 1 } }, 64, /limits.*jobs: there is no such option/],
      ['text', 78, /not an object/],
    ];
    for (const [value, code, text] of refused) {
      await writeFile(file, JSON.stringify(value));
      const ended = await inProcess([
        'leader',
        '--port',
        '0',
        '--dir',
        join(f.dir, 'other'),
        '--config',
        file,
      ]);
      assert.is(ended.code, code, ended.err);
      assert.match(ended.err, text);
    }
  },
);

operating(
  'a key that is not valid any more is reported at once, and a wrong one without a wait',
  async () => {
    await using f = await folder();
    const keys = ['a', 'b'].map((name) => join(f.dir, `${name}.key`));
    for (const key of keys) await inProcess(['key', 'new', 'peer', '--allow', 'all', '--out', key]);
    const [own = '', other = ''] = keys;
    await using leader = new Running(['leader', '--port', '0', '--dir', join(f.dir, 's'), '--key', own]);
    const at = String((await leader.first)['address']);
    const wrong = await inProcess(['run', 'math.add', '[1,2]', '--leader', at, '--key', other]);
    assert.is(wrong.code, 77);
    assert.match(
      wrong.err,
      /^troupe: leader at \S+: refused this peer: AUTH_FAILED: [^\n]*give the right key with --key\n$/,
    );
    await using worker = await workerOf(at, f.dir, ['--key', own]);
    await copyFile(other, own);
    leader.child.kill('SIGHUP');
    await worker.said(/refuses this peer \(.*AUTH_FAILED.*\), its key is not valid there any more/);
  },
);

operating('with `--label` a leader refuses jobs and schedules that require another one', async () => {
  await using f = await folder();
  const file = join(f.dir, 'leader.json');
  await writeFile(file, JSON.stringify({ labels: ['eu'] }));
  const flags = ['--port', '0', '--dir', join(f.dir, 's'), '--config', file];
  const submitWith = async (at: string, label: string): Promise<number | null> =>
    (await inProcess(['submit', 'math.add', '[1,2]', '--require', label, '--leader', at])).code;
  await using configured = new Running(['leader', ...flags]);
  const first = String((await configured.first)['address']);
  assert.equal([await submitWith(first, 'eu'), await submitWith(first, 'gpu')], [0, 65]);
  await configured.end();
  await using leader = new Running(['leader', ...flags, '--label', 'gpu', '--label', 'us']);
  const at = String((await leader.first)['address']);
  assert.equal([await submitWith(at, 'gpu'), await submitWith(at, 'us')], [0, 0]);
  const refused = await inProcess(['submit', 'math.add', '[1,2]', '--require', 'eu', '--leader', at]);
  assert.is(refused.code, 65);
  assert.match(refused.err, /label 'eu' is unknown, its labels are gpu, us/);
  const every = ['schedule', 'add', 'night', 'math.add', '[1,2]', '--every', '1h', '--leader', at];
  const schedule = await inProcess([...every, '--require', 'eu']);
  assert.match(schedule.err, /label 'eu' is unknown/);
  assert.is((await inProcess(every)).code, 0);
});

operating('`run` says after a second whether no worker serves its job or all are full', async () => {
  await using s = await ownLeader();
  const run = async (exec: string): Promise<string> => {
    const ended = await inProcess(['run', exec, '60000', '--result-within', '2500', '--leader', s.at]);
    assert.is(ended.code, 75);
    return ended.err.split('\n')[0] ?? '';
  };
  assert.match(await run('slow.nap'), /^troupe: job \S+ waits: no worker is connected; see troupe worker$/);
  await using _worker = await workerOf(s.at, s.dir, ['--slots', '2']);
  assert.match(
    await run('no.job'),
    /^troupe: job \S+ waits: no worker serves it: 1 connected, 0 of them with its handler; see /,
  );
  await inProcess(['submit', 'slow.nap', '60000', '--leader', s.at]);
  // The first run above was taken meanwhile.
  assert.match(
    await run('slow.nap'),
    /^troupe: job \S+ waits: .*no worker that serves it has room \(1\): 2 of 2 slots are taken; /,
  );
});

operating(
  'a leader, a worker and a client run without `__proto__` and without code from strings',
  async () => {
    await using f = await folder();
    const flags = '--disable-proto=delete --disallow-code-generation-from-strings';
    const state = join(f.dir, 'state');
    await using leader = new Running(['leader', '--port', '0', '--dir', state], undefined, flags.split(' '));
    const at = String((await leader.first)['address']);
    await using _worker = await workerOf(at, f.dir, [], flags.split(' '));
    assert.equal(await inProcess(['run', 'math.add', '[1,2]', '--leader', at]), {
      code: 0,
      out: '3\n',
      err: '',
    });
    assert.is((await inProcess(['run', 'math.fail', 'null', '--attempts', '1', '--leader', at])).code, 1);
    assert.is(await leader.end(), 0);
    assert.is(leader.err.includes('Error'), false, leader.err);
  },
);

operating.run();
