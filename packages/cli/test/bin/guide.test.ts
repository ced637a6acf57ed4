// timeout: 180s
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bin, type Ended } from './troupe.js';

const guide = suite('the guide of the command');
const root = new URL('../../../../', import.meta.url);

guide(
  'every line of the guide for operators runs in an empty folder, with the output that it names',
  async () => {
    const page = await readFile(new URL('docs/guides/steering-by-the-command.md', root), 'utf8');
    const script = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, lines]) => lines).join('');
    const dir = await mkdtemp(join(tmpdir(), 'troupe-guide-'));
    try {
      await symlink(fileURLToPath(new URL('packages/cli/node_modules', root)), join(dir, 'node_modules'));
      const { code, out, err } = await ran(dir, script);
      assert.is(code, 0, `${out}\n${err}`);
      for (const text of [
        '"sent to ann@example.org"',
        'queue mail/mail.send is paused since',
        'running 2, rate 100/1s',
        'exit 1',
        '1 would be queued again',
        '"sent to carl@example.org"',
        'digest removed',
        'redrive-edited',
        'ok: 0 queued',
        'last durable record',
        'after record 5',
        'worker stopped by an operator',
        'leader stopped',
      ])
        assert.ok(out.includes(text), `${text} in:\n${out}\n${err}`);
    } finally {
      await rm(dir, { recursive: true });
    }
  },
);

/** The leader listens on a socket of the folder: the port of the page may be taken. */
async function ran(cwd: string, script: string): Promise<Ended> {
  const head = `set -eo pipefail
export TROUPE_LEADER="unix:$PWD/l.sock"
troupe() {
  if [ "$1" = leader ]; then exec "$NODE" "$BIN" "$@" --socket "$PWD/l.sock"; else "$NODE" "$BIN" "$@"; fi
}
`;
  const { TROUPE_KEY: _key, ...env } = process.env;
  const child = spawn('bash', ['-c', `${head}${script}`], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...env, NODE: process.execPath, BIN: bin },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

guide.run();
