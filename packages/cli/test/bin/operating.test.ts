// timeout: 300s
import { chmod, copyFile, mkdir, open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { printCrash } from '#src/output/errors/print-crash.js';
import { folder, inProcess, lines, ownLeader, Running, stage, troupe, workerOf } from './troupe.js';

const operating = suite('operating by the command');

operating(
  'a leader ends in time at a signal, keeps what it has, and a second one on its folder is refused',
  async () => {
    await using s = await stage();
    const to = ['--leader', s.at];
    const id = (await inProcess(['submit', 'math.add', '[1,2]', ...to])).out.trim();
    const state = join(s.dir, 'state');
    const second = await troupe(['leader', '--port', '0', '--dir', state]);
    assert.is(second.code, 73);
    assert.match(
      second.err,
      /^troupe: LOCK: the directory is held by .*; stop that process or use another directory\n$/,
    );
    const taken = await troupe(['leader', '--port', s.at.split(':')[1] ?? '', '--dir', join(s.dir, 'other')]);
    assert.is(taken.code, 69);
    assert.match(taken.err, /EADDRINUSE.*choose another --port/);
    assert.is(await s.leader.end('SIGTERM'), 0);
    await using again = new Running(['leader', '--port', '0', '--dir', state]);
    const ready = await again.first;
    assert.is((ready['counts'] as { queued: number }).queued, 1);
    assert.match((await inProcess(['show', id, '--leader', String(ready['address'])])).out, /state +queued/);
  },
);

operating('a limit out of range is refused when the leader starts', async () => {
  await using f = await folder();
  const ended = await inProcess([
    'leader',
    '--port',
    '0',
    '--dir',
    join(f.dir, 'state'),
    '--payload-max',
    '1g',
  ]);
  assert.is(ended.code, 64);
  assert.match(ended.err, /^troupe: startLeader\.limits\.payloadBytesMax: needed .*\n$/);
});

operating('a folder that cannot be created ends leader, backup and restore at once (exit 73)', async () => {
  await using s = await ownLeader();
  await s.end();
  const state = join(s.dir, 'state');
  const below = join(s.dir, 'handlers.mjs', 'below');
  for (const place of process.platform === 'linux' ? ['/proc/x', '/sys/x', below] : [below]) {
    for (const words of [
      ['leader', '--port', '0', '--dir', place],
      ['backup', state, place],
      ['restore', state, place],
    ]) {
      const ended = await inProcess(words);
      assert.is(ended.code, 73, `${words}: ${ended.err}`);
      assert.match(
        ended.err,
        /^troupe: directory \S+: cannot be created or written to \(E\w+\); name another, or .*\n$/,
      );
    }
  }
});

operating("`wal verify`, `wal dump`, `backup` and `restore` work on a leader's folder", async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  await inProcess(['submit', 'math.add', '[1,2]', '--idempotency-key', 'first', ...to]);
  await inProcess(['submit', 'math.add', '"a text"', ...to]);
  const state = join(s.dir, 'state');
  const [live] = lines(await inProcess(['backup', state, join(s.dir, 'live'), '--json']));
  assert.ok(Number(live?.['lastLsn']) > 0, 'the leader runs on meanwhile');
  assert.is((await inProcess(['wal', 'verify', join(s.dir, 'live')])).code, 0);
  await s.end();
  const dumped = lines(await inProcess(['wal', 'dump', state]));
  const enqueue = dumped.find(({ type }) => type === 'enqueue');
  assert.equal([enqueue?.['key'], enqueue?.['payload']], ['first', [1, 2]]);
  const payloads = (all: typeof dumped): unknown[] =>
    all.flatMap(({ type, payload }) => (type === 'enqueue' ? [payload] : []));
  assert.equal(payloads(dumped), [[1, 2], 'a text']);
  const sizes = lines(await inProcess(['wal', 'dump', state, '--no-payloads']));
  assert.equal(
    sizes.flatMap(({ type, payloadBytes }) => (type === 'enqueue' ? [payloadBytes] : [])),
    [5, 8],
  );
  const some = lines(await inProcess(['wal', 'dump', state, '--from', '2', '--to', '3']));
  assert.equal([...new Set(some.map(({ lsn }) => lsn))], [2, 3]);
  assert.match(
    (await inProcess(['wal', 'verify', state])).out,
    /^ok: entries 1 to \d+ in \d segments, closed cleanly\n$/,
  );
  assert.is((await inProcess(['backup', state, join(s.dir, 'copy')])).code, 0);
  assert.is((await inProcess(['backup', state, join(s.dir, 'copy')])).code, 73);
  const [restored] = lines(
    await inProcess(['restore', join(s.dir, 'copy'), join(s.dir, 'restored'), '--json']),
  );
  assert.ok(Number(restored?.['lastLsn']) > 0);
  await using leader = new Running(['leader', '--port', '0', '--dir', join(s.dir, 'restored')]);
  assert.is(((await leader.first)['counts'] as { queued: number }).queued, 2);
});

operating('a damaged log is refused by leader, verify and restore (exit 65)', async () => {
  await using s = await ownLeader();
  for (let i = 0; i < 3; i += 1) await inProcess(['submit', 'math.add', `[${i},2]`, '--leader', s.at]);
  await s.end();
  const state = join(s.dir, 'state');
  const name =
    (await readdir(state)).filter((file) => file.endsWith('.log') || file.endsWith('.seg')).sort()[0] ?? '';
  assert.ok(name !== '', (await readdir(state)).join(' '));
  const file = await open(join(state, name), 'r+');
  await file.write(Buffer.from([0xff]), 0, 1, 4096 + 20);
  await file.close();
  const verified = await inProcess(['wal', 'verify', state]);
  assert.is(verified.code, 65, verified.out);
  assert.is((await inProcess(['leader', '--port', '0', '--dir', state])).code, 65);
  assert.is((await inProcess(['restore', state, join(s.dir, 'new')])).code, 65);
});

operating('`wal verify` prints the bytes that a leader will cut, and the leader warns of them', async () => {
  await using s = await stage();
  await inProcess(['submit', 'math.add', '[1,2]', '--leader', s.at]);
  await s.leader.end('SIGKILL');
  const state = join(s.dir, 'state');
  const name = (await readdir(state)).filter((file) => file.endsWith('.seg')).sort()[0] ?? '';
  const bytes = await readFile(join(state, name));
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  const file = await open(join(state, name), 'r+');
  await file.write(Buffer.alloc(100, 0xa5), 0, 100, Math.ceil(end / 4_096) * 4_096);
  await file.close();
  const verified = await inProcess(['wal', 'verify', state]);
  assert.match(
    verified.out,
    /^ok: .*, not closed cleanly\n\d+ bytes after the last batch are no batch; opening .* quarantine\/\n$/,
  );
  await using again = new Running(['leader', '--port', '0', '--dir', state]);
  await again.first;
  assert.match(again.err, /warn.*(cut|torn)/i);
});

operating('key files are private, authenticate peers, and a wrong key is refused', async () => {
  await using f = await folder();
  const path = (name: string): string => join(f.dir, name);
  assert.is((await inProcess(['key', 'new', 'ops', '--allow', 'all', '--out', path('ops.key')])).code, 0);
  assert.is((await stat(path('ops.key'))).mode & 0o777, 0o600);
  assert.is((await inProcess(['key', 'new', 'ops', '--allow', 'all', '--out', path('ops.key')])).code, 73);
  assert.is((await inProcess(['key', 'new', 'nothing'])).code, 64);
  const mail = ['key', 'new', 'mail', '--allow', 'submit=job.submit.mail', '--out', path('mail.key')];
  assert.is((await inProcess(mail)).code, 0);
  assert.is((await inProcess(['key', 'new', 'x', '--allow', 'submit=job..mail'])).code, 78);
  assert.match((await inProcess(['key', 'new', 'shown', '--allow', 'all'])).out, /"key": "[0-9a-f]{64}"/);
  await using s = await stage(['--key', path('ops.key'), '--key', path('mail.key')]);
  const to = ['--leader', s.at];
  const stranger = await inProcess(['check', ...to]);
  assert.is(stranger.code, 77);
  assert.match(stranger.err, /AUTH_FAILED.*give the right key with --key\n$/);
  assert.is((await inProcess(['submit', 'mail.send', '1', '--key', path('mail.key'), ...to])).code, 0);
  const forbidden = await inProcess(['submit', 'math.add', '1', '--key', path('mail.key'), ...to]);
  assert.is(forbidden.code, 77);
  assert.is((await inProcess(['check', '--key', path('mail.key'), ...to])).code, 77);
  assert.is((await inProcess(['check', '--key', path('ops.key'), ...to])).code, 0);
  await chmod(path('ops.key'), 0o644);
  const open = await inProcess(['check', '--key', path('ops.key'), ...to]);
  assert.equal(
    [open.code, open.err],
    [78, `troupe: key file ${path('ops.key')}: others may read it; run: chmod 600 ${path('ops.key')}\n`],
  );
});

operating(
  'SIGHUP: keys and certificates are read again, and what cannot be read changes nothing',
  async () => {
    await using f = await folder();
    const path = (name: string): string => join(f.dir, name);
    const [old, young] = [new CertificateAuthority('old'), new CertificateAuthority('young')];
    const certify = async (authority: CertificateAuthority): Promise<void> => {
      const { cert, key } = authority.issue({ name: 'leader', hosts: ['localhost'] });
      await writeFile(path('cert.pem'), cert);
      await writeFile(path('key.pem'), key);
    };
    await certify(old);
    await writeFile(path('old.pem'), old.cert);
    await writeFile(path('young.pem'), young.cert);
    for (const name of ['ann', 'bob'])
      await inProcess(['key', 'new', name, '--allow', 'all', '--out', path(`${name}.key`)]);
    await copyFile(path('ann.key'), path('leader.key'));
    const tls = ['--tls-cert', path('cert.pem'), '--tls-key', path('key.pem'), '--key', path('leader.key')];
    await using s = await stage(tls);
    const check = async (ca: string, key: string): Promise<number | null> => {
      const proof = ['--tls-ca', path(ca), '--tls-name', 'localhost', '--key', path(key)];
      return (await inProcess(['check', '--leader', s.at, '--connect-within', '1000', ...proof])).code;
    };
    assert.equal([await check('old.pem', 'ann.key'), await check('old.pem', 'bob.key')], [0, 77]);
    await certify(young);
    await copyFile(path('bob.key'), path('leader.key'));
    s.leader.child.kill('SIGHUP');
    await s.leader.said(/"kind":"reloaded"/);
    assert.equal([await check('young.pem', 'bob.key'), await check('young.pem', 'ann.key')], [0, 77]);
    assert.is(await check('old.pem', 'bob.key'), 69);
    await writeFile(path('cert.pem'), 'no certificate');
    await copyFile(path('ann.key'), path('leader.key'));
    s.leader.child.kill('SIGHUP');
    await s.leader.said(/leader: SIGHUP: .*; the keys and certificates read before stay in use/);
    assert.equal([await check('young.pem', 'bob.key'), await check('young.pem', 'ann.key')], [0, 77]);
    assert.is(await s.leader.end('SIGTERM'), 0);
  },
);

operating('leader and worker print errors on standard error', async () => {
  await using s = await stage(['--verbose']);
  const to = ['--leader', s.at];
  await using worker = await workerOf(s.at, s.dir);
  await inProcess(['run', 'math.fail', '1', '--attempts', '1', ...to]);
  await worker.said(/worker: math\.fail \S+-1, attempt 1: failed: Error: it never works\n/);
  const [dead] = lines(await inProcess(['dlq', 'ls', '--json', ...to]));
  await s.leader.said(
    new RegExp(`leader: job ${String(dead?.['id'])} \\(math\\.fail\\) is a dead letter: failed\n`),
  );
  await inProcess(['submit', 'math.add', '1', '--idempotency-key', 'k', ...to]);
  await inProcess(['submit', 'math.add', '2', '--idempotency-key', 'k', ...to]);
  await s.leader.said(/leader: refused a submit of cli: ERR_KEY_CONFLICT\n/);
  await s.leader.said(/leader: worker w1~\S+ joined\n/);
  await s.leader.said(
    /leader: \/ \(guardian\).*\nleader: ├─ leader .*\nleader: │ {2}├─ log .*\nleader: │ {2}└─ spill .*\nleader: └─ listener /,
  );
});

operating('a crash report has the message, the stack of an unforeseen error, and the exit code', () => {
  const said: string[] = [];
  const terminal = {
    out: () => undefined,
    err: (line: string) => void said.push(line),
    isInteractive: false,
    draw: () => undefined,
  };
  const cause = new Error('within');
  assert.is(printCrash(terminal, 'leader', new TypeError('a mistake', { cause })), 70);
  assert.is(said[0], 'troupe: leader: a mistake');
  assert.match(
    said[1] ?? '',
    /TypeError: a mistake\n +at .*operating[\s\S]*\ncaused by Error: within\n +at /,
  );
  const disk = Object.assign(new Error('journal: EIO'), { code: 'ERR_JOURNAL_FAILED' });
  assert.is(printCrash(terminal, 'leader', disk), 74);
  assert.equal(said.slice(2), ['troupe: leader: journal: EIO']);
});

operating('a folder without a log is refused, and so is a backup target inside its source', async () => {
  await using s = await ownLeader();
  const other = join(s.dir, 'other');
  await mkdir(other);
  for (const words of [
    ['wal', 'verify', other],
    ['wal', 'dump', other],
    ['wal', 'repair', other],
    ['backup', other, join(s.dir, 'bk')],
    ['restore', other, join(s.dir, 'bk')],
  ]) {
    const ended = await inProcess(words);
    assert.equal(
      [ended.code, ended.err],
      [66, `troupe: ${other}: no log in it; name the --dir of a leader\n`],
    );
  }
  assert.is((await inProcess(['wal', 'dump', join(s.dir, 'nowhere')])).code, 66);
  const state = join(s.dir, 'state');
  await s.end();
  const inside = await inProcess(['backup', state, join(state, 'bk')]);
  assert.equal([inside.code, (await readdir(state)).includes('bk')], [64, false]);
  assert.match((await inProcess(['wal', 'repair', state])).out, /^would be: \d+ records kept, none lost;/);
});

operating('TLS with a key works; a public address without both is refused', async () => {
  await using f = await folder();
  const path = (name: string): string => join(f.dir, name);
  const authority = new CertificateAuthority('test');
  const { cert, key } = authority.issue({ name: 'leader', hosts: ['localhost'] });
  await writeFile(path('ca.pem'), authority.cert);
  await writeFile(path('cert.pem'), cert);
  await writeFile(path('key.pem'), key);
  await inProcess(['key', 'new', 'ops', '--allow', 'all', '--out', path('ops.key')]);
  const unsafe = await inProcess(['leader', '--host', '0.0.0.0', '--port', '0', '--dir', path('state')]);
  assert.is(unsafe.code, 78);
  assert.match(
    unsafe.err,
    /^troupe: listen on 0\.0\.0\.0:0: refused, .*; give --tls-cert, --tls-key and --key/,
  );
  const tls = ['--tls-cert', path('cert.pem'), '--tls-key', path('key.pem'), '--key', path('ops.key')];
  await using s = await stage(['--host', '0.0.0.0', ...tls]);
  const port = s.at.split(':').at(-1);
  const to = ['--leader', `127.0.0.1:${port}`, '--key', path('ops.key')];
  assert.is(
    (await inProcess(['check', ...to, '--tls-ca', path('ca.pem'), '--tls-name', 'localhost'])).code,
    0,
  );
  assert.is((await inProcess(['check', ...to, '--connect-within', '300'])).code, 69);
});

operating('peers authenticate by client certificate, and a leader listens on a Unix socket', async () => {
  await using f = await folder();
  const path = (name: string): string => join(f.dir, name);
  const authority = new CertificateAuthority('test');
  const leader = authority.issue({ name: 'leader', hosts: ['localhost'] });
  const peer = authority.issue({ name: 'peer', uri: 'urn:peer:ops' });
  await writeFile(path('ca.pem'), authority.cert);
  for (const [name, { cert, key }] of [['leader', leader] as const, ['peer', peer] as const]) {
    await writeFile(path(`${name}.cert`), cert);
    await writeFile(path(`${name}.pem`), key);
  }
  const rules = { name: 'ops', certificate: 'urn:peer:ops', submit: ['>'], observe: ['>'] };
  await writeFile(path('ops.json'), JSON.stringify(rules), { mode: 0o600 });
  const tls = [
    '--tls-cert',
    path('leader.cert'),
    '--tls-key',
    path('leader.pem'),
    '--tls-client-ca',
    path('ca.pem'),
  ];
  await using s = await stage([...tls, '--key', path('ops.json')]);
  const to = [
    '--leader',
    s.at,
    '--tls-ca',
    path('ca.pem'),
    '--tls-name',
    'localhost',
    '--connect-within',
    '2000',
  ];
  const own = ['--tls-cert', path('peer.cert'), '--tls-key', path('peer.pem')];
  assert.is((await inProcess(['check', ...to, ...own])).code, 0);
  assert.ok([69, 77].includes((await inProcess(['check', ...to])).code ?? 0));
  await using unix = new Running(['leader', '--socket', path('leader.sock'), '--dir', path('state-unix')]);
  assert.is((await unix.first)['address'], `unix:${path('leader.sock')}`);
  assert.is((await inProcess(['check', '--leader', `unix:${path('leader.sock')}`])).code, 0);
});

operating('a missing worker module, or one without handlers, is an error that says so', async () => {
  await using s = await ownLeader();
  const missing = await inProcess(['worker', join(s.dir, 'nothing.mjs'), '--leader', s.at]);
  assert.is(missing.code, 66);
  await writeFile(join(s.dir, 'empty.mjs'), 'export const x = 1;\n');
  const empty = await inProcess(['worker', join(s.dir, 'empty.mjs'), '--leader', s.at]);
  assert.equal(
    [empty.code, empty.err],
    [65, `troupe: module ${join(s.dir, 'empty.mjs')}: exports no handler; export handle(job, run)\n`],
  );
  await writeFile(join(s.dir, 'data.json'), '{}');
  assert.is((await inProcess(['worker', join(s.dir, 'data.json'), '--leader', s.at])).code, 65);
  await using worker = await workerOf(s.at, s.dir);
  assert.equal((await worker.first)['execs'], [
    'math.add',
    'math.fail',
    'text.echo',
    'slow.nap',
    'slow.pages',
    'cpu.spin',
  ]);
});

operating('`bench` prints jobs per second and counts every job', async () => {
  const ended = await troupe(['bench', '--jobs', '300', '--outstanding', '50', '--json']);
  const [figures] = lines(ended);
  assert.is(figures?.['jobs'], 300, ended.err);
  assert.ok(Number(figures?.['jobsPerSecond']) > 0);
  assert.is(figures?.['durability'], 'fsync before every acknowledgement');
});

operating('completion scripts contain every subcommand', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { code, out } = await inProcess(['completion', shell]);
    assert.is(code, 0);
    for (const word of ['submit', 'redrive', 'backup']) assert.match(out, word);
    const [json] = lines(await inProcess(['completion', shell, '--json']));
    assert.equal([json?.['shell'], `${json?.['script']}\n`], [shell, out]);
  }
});

operating('every subcommand has a help text with an example', async () => {
  const verbs = [
    'leader',
    'worker',
    'submit',
    'run',
    'await',
    'cancel',
    'ls',
    'show',
    'check',
    'bench',
    'completion',
  ];
  const nested = [
    'dlq ls',
    'dlq show',
    'dlq redrive',
    'dlq purge',
    'workers ls',
    'key new',
    'wal dump',
    'wal load',
    'wal verify',
    'wal repair',
  ];
  for (const name of [...verbs, ...nested, 'backup', 'restore']) {
    const { code, out } = await inProcess([...name.split(' '), '--help']);
    assert.is(code, 0);
    const [own = ''] = out.split('\nConnection:\n');
    assert.not.match(own, '--tls-ca', `${name}: its own options are first`);
    assert.match(out, new RegExp(`Example:\n {2}\\$ (source <\\()?troupe ${name}`));
  }
  const page = await readFile(new URL('../../../../docs/cli.md', import.meta.url), 'utf8');
  for (const name of [...verbs, ...nested, 'backup', 'restore'])
    assert.ok(page.includes(`troupe ${name}`), name);
});

operating('usage errors are one line (exit 64)', async () => {
  const cases: [readonly string[], RegExp][] = [
    [['nonsense'], /^troupe: unknown command 'nonsense'; see troupe --help\n$/],
    [['run'], /^troupe: missing required argument 'exec'; see troupe run --help\n$/],
    [['ls', '--state', 'odd'], /^troupe: .*Allowed choices are queued.*\n$/],
    [['leader', '--payload-max', '0'], /^troupe: .*bytes above 0.*\n$/],
    [['leader', '--port', '99999999'], /^troupe: .*whole number from 0 to 65535.*\n$/],
    [['check', '--leader', 'a:b:c'], /^troupe: address 'a:b:c': needed host:port or unix:\/path\n$/],
  ];
  for (const [args, line] of cases) {
    const ended = await inProcess(args);
    assert.is(ended.code, 64, ended.err);
    assert.match(ended.err, line);
    assert.is(ended.out, '');
  }
  const wrong = await inProcess(['ls', '--state', 'odd', '--json']);
  const usage = JSON.parse(wrong.err) as { error: { code: string; exitCode: number } };
  assert.equal([wrong.code, usage.error.code, usage.error.exitCode], [64, 'ERR_CLI_USAGE', 64]);
  const json = await troupe(['check', '--leader', '127.0.0.1:1', '--connect-within', '100', '--json']);
  const { error } = JSON.parse(json.err) as { error: { code: string; exitCode: number } };
  assert.equal([json.code, error.code, error.exitCode], [69, 'ERR_LEADER_UNREACHABLE', 69]);
});

operating.run();
