// timeout: 200s
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const demo = suite('demo with the page');
const program = fileURLToPath(new URL('../../../docs/examples/.test/start.js', import.meta.url));

interface Figures {
  readonly accepted: number;
  readonly counts: { readonly done: number };
}

/** Resolves with the match once the output has it. */
function printed(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = '';
  return new Promise((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const match = pattern.exec(text);
      if (match !== null) resolve(match);
    });
    child.once('exit', () => reject(new Error(`it ended without ${pattern}: ${text}`)));
  });
}

demo('jobs flow over the kill of a worker and of the leader, and Ctrl-C ends all of it', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'troupe-demo-'));
  await writeFile(join(cwd, 'text.md'), 'jobs of the demo read the files of its folder\n');
  // A group of its own: Ctrl-C of a terminal reaches every process of it.
  const child = spawn(process.execPath, [program, '--dashboard'], {
    cwd,
    detached: true,
    env: { ...process.env, PORT: '0', KILL_MS: '1500' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const address = printed(child, /the page is on (http:\S+);/);
    const workerKilled = printed(child, /kill -9 of worker \d+/);
    const leaderKilled = printed(child, /kill -9 of the leader, \d+/);
    const [, url = ''] = await address;
    assert.match(await (await fetch(url)).text(), /<title>Troupe</);
    await workerKilled;
    await leaderKilled;
    const before = await figures(url);
    for (;;) {
      const { accepted, counts } = await figures(url);
      if (accepted > before.accepted && counts.done > before.counts.done) break;
    }
    const summary = printed(child, /(\d+) jobs submitted, (\d+) processes killed/);
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    process.kill(-(child.pid as number), 'SIGINT');
    const [, jobs, kills] = await summary;
    assert.ok(Number(jobs) > 0 && Number(kills) >= 2, `${jobs} jobs, ${kills} kills`);
    assert.is(await ended, 0);
    assert.equal(await readdir(cwd), ['text.md'], 'its folder is removed');
  } finally {
    if (child.exitCode === null) process.kill(-(child.pid as number), 'SIGKILL');
    await rm(cwd, { recursive: true, force: true });
  }
});

/** The gateway waits for a leader that is away. */
async function figures(url: string): Promise<Figures> {
  for (;;) {
    const answer = await fetch(`${url}/api/overview`);
    if (answer.ok) return (await answer.json()) as Figures;
    await answer.text();
  }
}

demo.run();
