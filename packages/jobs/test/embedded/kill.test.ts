// timeout: 300s
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { openKilled, quick } from './kill-child.js';

const kills = suite('kill -9');

const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 50);
const CHILD = fileURLToPath(new URL('./kill-child.js', import.meta.url));

interface Told {
  /** Id to the text that was submitted. */
  readonly accepted: Map<string, string>;
  readonly results: Map<string, string>;
}

/** One process on the folder, killed some time after it is ready. What it said before is what counts. */
async function round(dir: string, number: number, told: Told): Promise<void> {
  const child: ChildProcess = spawn(process.execPath, [CHILD, dir, String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  if (child.stdout === null) throw new Error('the child has no output');
  for await (const line of createInterface({ input: child.stdout })) {
    const [what = '', id = '', ...rest] = line.split(' ');
    // A kill in the middle of a run: some rounds in recovery's first moments, some in full swing.
    if (what === 'ready') setTimeout(() => child.kill('SIGKILL'), Math.random() * 160);
    if (what === 'accepted') told.accepted.set(id, rest.join(' '));
    if (what === 'result') told.results.set(id, rest.join(' '));
  }
  const [, signal] = await exited;
  assert.is(signal, 'SIGKILL', `round ${number} ended by itself`);
}

// B2, B8: nothing acknowledged is lost or contradicted, whenever the process dies.
kills(`${ROUNDS} kills of a working process lose nothing that was acknowledged`, async () => {
  await using folder = await tempFolder();
  const told: Told = { accepted: new Map(), results: new Map() };
  for (let number = 1; number <= ROUNDS; number += 1) await round(folder.path, number, told);
  await using app = await openKilled(folder.path);
  const client = app.client();
  await client.overview();
  let done = 0;
  for (const [id, text] of told.accepted) {
    assert.is(await client.open(quick, id).result({ withinMs: 60_000 }), `did ${text}`, id);
    done += 1;
  }
  for (const [id, result] of told.results) assert.is(result, `did ${told.accepted.get(id)}`, id);
  const { counts, accepted, dropped } = await client.overview();
  assert.equal([counts.dead, counts.cancelled, dropped], [0, 0, 0]);
  assert.ok(accepted >= told.accepted.size && done > ROUNDS, 'there was something to lose');
  process.stdout.write(
    `${ROUNDS} kills, ${done} acknowledged jobs, ${told.results.size} results told, ${accepted} taken\n`,
  );
});

kills.run();
