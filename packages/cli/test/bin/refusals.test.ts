// timeout: 120s
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bin, type Ended, folder, inProcess, stage, troupe, workerOf } from './troupe.js';

const refusals = suite('what the command refuses');

refusals('a key file whose key is not a string is refused by leader and client', async () => {
  await using f = await folder();
  const path = join(f.dir, 'odd.key');
  await writeFile(path, JSON.stringify({ name: 'x', id: 'x-1', key: 5 }), { mode: 0o600 });
  for (const words of [
    ['leader', '--port', '0', '--dir', join(f.dir, 'state')],
    ['check', '--leader', '127.0.0.1:1'],
  ]) {
    const ended = await inProcess([...words, '--key', path]);
    assert.equal(
      [ended.code, ended.err],
      [78, `troupe: key file ${path}: its id and key must be texts; make one with: troupe key new\n`],
    );
  }
});

refusals(
  'an address or schema that cannot be of PostgreSQL is a usage error before anything starts',
  async () => {
    await using f = await folder();
    const leader = ['leader', '--port', '0', '--dir', join(f.dir, 'state')];
    for (const [words, text] of [
      [['--outbox', 'foo'], /'foo' is invalid. It must be an address such as postgres:\/\//],
      [['--postgres', 'http://127.0.0.1/x'], /It must be an address such as postgres:\/\//],
      [['--postgres', 'postgres://127.0.0.1:1/x', '--schema', "a'b"], /schema: needed a name/],
    ] as const) {
      const ended = await inProcess([...leader, ...words]);
      assert.is(ended.code, 64, ended.err);
      assert.match(ended.err, text);
      assert.is(ended.err.trim().split('\n').length, 1);
    }
  },
);

refusals('a key file that cannot be created is an error (exit 73)', async () => {
  await using f = await folder();
  const ended = await inProcess(['key', 'new', 'x', '--allow', 'all', '--out', join(f.dir, 'none', 'x.key')]);
  assert.is(ended.code, 73);
  assert.match(ended.err, /^troupe: key file \S+: cannot be made \(ENOENT\); name a file .*\n$/);
});

refusals(
  'an invalid certificate, or one of another key, is a configuration error before anything starts (exit 78)',
  async () => {
    await using f = await folder();
    const authority = new CertificateAuthority('test');
    const one = authority.issue({ name: 'one', hosts: ['localhost'] });
    const other = authority.issue({ name: 'other', hosts: ['localhost'] });
    const paths = { cert: join(f.dir, 'cert.pem'), key: join(f.dir, 'key.pem') };
    await writeFile(paths.key, other.key);
    for (const cert of ['no certificate', one.cert]) {
      await writeFile(paths.cert, cert);
      const tls = ['--tls-cert', paths.cert, '--tls-key', paths.key];
      for (const words of [
        ['leader', '--port', '0', '--dir', join(f.dir, 'state')],
        ['check', '--leader', '127.0.0.1:1'],
      ]) {
        const ended = await inProcess([...words, ...tls]);
        assert.is(ended.code, 78, ended.err);
        assert.match(
          ended.err,
          /^troupe: TLS: .*; check the files of the certificate, its key and the .*\n$/,
        );
      }
    }
  },
);

refusals('a TLS certificate without its key is a usage error (exit 64)', async () => {
  const together = 'troupe: TLS: --tls-cert and --tls-key go together\n';
  for (const [words, err] of [
    [['--tls-key', 'key.pem'], together],
    [['--tls-ca', 'ca.pem', '--tls-cert', 'cert.pem'], together],
    [['--tls-name', 'leader'], 'troupe: TLS: --tls-name needs --tls or --tls-ca\n'],
  ] as const) {
    const ended = await inProcess(['check', '--leader', '127.0.0.1:1', ...words]);
    assert.equal([ended.code, ended.err], [64, err]);
  }
});

refusals('a key rule with an unknown action is a usage error (exit 64)', async () => {
  for (const rule of ['foo=bar', 'submit', '=job.>']) {
    const ended = await inProcess(['key', 'new', 'x', '--allow', 'submit=job.>', '--allow', rule]);
    assert.is(ended.code, 64, rule);
    assert.match(
      ended.err,
      /^troupe: --allow \S+: needed submit, work, observe, feed, cancel, admin and a subject, .*\n$/,
    );
  }
});

refusals('a socket path that is too long is a usage error (exit 64)', async () => {
  await using f = await folder();
  for (const path of ['', `/tmp/${'x'.repeat(200)}`]) {
    for (const words of [
      ['leader', '--dir', join(f.dir, 'state'), '--socket', path],
      ['check', '--leader', `unix:${path}`],
    ]) {
      const ended = await inProcess(words);
      assert.equal(
        [ended.code, ended.err],
        [64, `troupe: socket '${path}': needed a path of 1 to 103 bytes\n`],
      );
    }
  }
});

refusals('a payload that is not UTF-8 is refused from argument, file and standard input', async () => {
  await using s = await stage();
  const to = ['--leader', s.at];
  const file = join(s.dir, 'binary');
  const submit = ['submit', 'text.echo', '--text', '--file', file, ...to];
  const refused = async (words: readonly string[]): Promise<void> => {
    const ended = await inProcess(words);
    assert.equal(
      [ended.code, ended.err],
      [65, `troupe: payload from ${file}: not UTF-8; encode it, as base64 for instance\n`],
    );
  };
  await writeFile(file, Buffer.from([0x61, 0xff, 0x61]));
  await refused(submit);
  await refused([...submit, '--lines']);
  await writeFile(file, Buffer.alloc(2_000_000, 0xc3));
  await refused(submit);
  // A character cut in two by the chunks of a file is valid UTF-8 all the same.
  await writeFile(file, `a${'é'.repeat(100_000)}`);
  assert.is((await inProcess(submit)).code, 0);
  assert.is((await inProcess([...submit, '--lines'])).code, 0);
});

refusals('a result that cannot be written is an I/O error (exit 74)', async () => {
  if (process.platform !== 'linux') return;
  const full = await open('/dev/full', 'w');
  try {
    const child = spawn(process.execPath, [bin, 'completion', 'fish'], {
      stdio: ['ignore', full.fd, 'pipe'],
    });
    let err = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    assert.is(code, 74);
    assert.match(err, /^troupe: standard output: ENOSPC.*; the command itself was carried out\n$/);
  } finally {
    await full.close();
  }
});

refusals('a draining leader refuses submits (exit 75)', async () => {
  await using s = await stage(['--drain-within', '60000']);
  const to = ['--leader', s.at];
  await using _worker = await workerOf(s.at, s.dir);
  await troupe(['submit', 'cpu.spin', '3600000', ...to]);
  while (!(await troupe(['ls', '--state', 'running', ...to])).out.includes('cpu.spin'));
  s.leader.child.kill('SIGTERM');
  let late: Ended = { code: 0, out: '', err: '' };
  while (late.code === 0) late = await troupe(['submit', 'math.add', '[1,2]', ...to]);
  assert.equal(
    [late.code, late.err],
    [75, 'troupe: submit refused: the leader is shutting down; try again when it is back\n'],
  );
});

refusals.run();
