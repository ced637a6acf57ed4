// timeout: 120s
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CertificateAuthority } from '@troupe/transport/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folder, Running } from './troupe.js';

const warnings = suite('warnings of a leader at its start');

if (process.platform !== 'win32') {
  warnings('a key of TLS that other users may read is one line with the remedy', async () => {
    await using f = await folder();
    const path = (name: string): string => join(f.dir, name);
    const { cert, key } = new CertificateAuthority('own').issue({ name: 'leader', hosts: ['localhost'] });
    await writeFile(path('cert.pem'), cert);
    await writeFile(path('key.pem'), key);
    const words = ['--port', '0', '--dir', path('state'), '--tls-cert', path('cert.pem')];
    for (const [mode, lines] of [
      [0o644, 1],
      [0o600, 0],
    ] as const) {
      await chmod(path('key.pem'), mode);
      await using leader = new Running(['leader', ...words, '--tls-key', path('key.pem')]);
      await leader.first;
      const warned = leader.err.split('\n').filter((line) => line.includes('key.pem'));
      assert.is(warned.length, lines, leader.err);
      if (lines > 0)
        assert.match(warned[0] ?? '', /^leader: .*other users may read .*key\.pem; run chmod 600/);
      assert.is(await leader.end('SIGTERM'), 0);
    }
  });
}

/** A module that gives every folder the type of NFS, as statfs(2) would. */
const NFS = `import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const { statfs } = fs;
fs.statfs = (path, done) => statfs(path, (error, stats) => done(error, stats && Object.assign(stats, { type: 0x6969 })));
syncBuiltinESMExports();
`;

if (process.platform === 'linux') {
  warnings('a network file system is refused, and with --allow-network-fs warned of', async () => {
    await using f = await folder();
    await writeFile(join(f.dir, 'nfs.mjs'), NFS);
    const flags = ['--import', pathToFileURL(join(f.dir, 'nfs.mjs')).href];
    const words = ['leader', '--port', '0', '--dir', join(f.dir, 'state')];
    await using refused = new Running(words, undefined, flags);
    assert.is(await refused.exited, 73);
    await refused.said(/network file system \(nfs\).*--allow-network-fs/);
    await using allowed = new Running([...words, '--allow-network-fs'], undefined, flags);
    await allowed.first;
    assert.match(allowed.err, /warn.*the folder is on a network file system \(nfs\)/);
    assert.is(await allowed.end('SIGTERM'), 0);
  });
}

warnings.run();
