// timeout: 120s
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { openApp, quick } from './killed-process.js';

const kills = suite('kill -9');

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 15);
const CHILD = fileURLToPath(new URL('./killed-process.js', import.meta.url));

interface Reported {
  /** Id to the text that was submitted. */
  readonly accepted: Map<string, string>;
  readonly results: Map<string, string>;
}

/** One process on the folder, killed some time after it is ready. Collects the lines it printed before. */
async function round(dir: string, number: number, reported: Reported): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [CHILD, dir, String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  if (child.stdout === null) throw new Error('the child has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const [what = '', id = '', ...rest] = line.split(' ');
    // Some kills come right after recovery, some under full load.
    if (what === 'ready') setTimeout(() => child.kill('SIGKILL'), Math.random() * 160);
    if (what === 'accepted') reported.accepted.set(id, rest.join(' '));
    if (what === 'result') reported.results.set(id, rest.join(' '));
  }
  const [, signal] = await exited;
  assert.is(signal, 'SIGKILL', `round ${number} ended by itself`);
}

kills(`${ROUNDS} kills of a working process lose no acknowledged job`, async () => {
  await using folder = await tempFolder();
  const reported: Reported = { accepted: new Map(), results: new Map() };
  for (let number = 1; number <= ROUNDS; number += 1) await round(folder.path, number, reported);
  await using app = await openApp(folder.path);
  const client = app.client();
  let done = 0;
  for (const [id, text] of reported.accepted) {
    assert.is(await client.open(quick, id).result({ withinMs: 60_000 }), `did ${text}`, id);
    done += 1;
  }
  for (const [id, result] of reported.results) assert.is(result, `did ${reported.accepted.get(id)}`, id);
  const { counts, accepted, dropped } = await client.overview();
  assert.equal([counts.dead, counts.cancelled, dropped], [0, 0, 0]);
  assert.ok(accepted >= reported.accepted.size && done > ROUNDS, 'enough jobs were acknowledged');
  process.stdout.write(
    `${ROUNDS} kills, ${done} acknowledged jobs, ${reported.results.size} results, ${accepted} accepted\n`,
  );
});

kills.run();
