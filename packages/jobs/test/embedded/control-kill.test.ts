// timeout: 120s
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { QueueView } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { late, limited, lined, openApp } from './controlled-process.js';

const kills = suite('kill -9 of control');
const ROUNDS = Number(process.env['KILL_ROUNDS'] ?? 4);
const CHILD = fileURLToPath(new URL('./controlled-process.js', import.meta.url));

/** The lines that one process printed before it was killed. */
async function round(dir: string, number: number): Promise<string[]> {
  const child = spawn(process.execPath, [CHILD, dir, String(number)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'ready') setTimeout(() => child.kill('SIGKILL'), 60 + Math.random() * 200);
    lines.push(line);
  }
  const [, signal] = await exited;
  assert.is(signal, 'SIGKILL', `round ${number} ended by itself`);
  return lines;
}

function last(lines: readonly string[], word: string): string {
  return lines.findLast((line) => line.startsWith(`${word} `))?.slice(word.length + 1) ?? '';
}

kills(`${ROUNDS} kills keep limits, modes, expired jobs and the order of every key`, async () => {
  await using folder = await tempFolder();
  const accepted = new Map<string, string>();
  const expired = new Set<string>();
  const began: string[] = [];
  let lines: string[] = [];
  for (let number = 1; number <= ROUNDS; number += 1) {
    lines = await round(folder.path, number);
    for (const line of lines) {
      const [word = '', id = '', ...rest] = line.split(' ');
      if (word === 'accepted') accepted.set(id, rest.join(' '));
      if (word === 'expired') expired.add(id);
      if (word === 'began') began.push([id, ...rest].join(' '));
    }
  }
  await using app = await openApp(folder.path, (text) => began.push(text));
  const client = app.client();
  for (const [id, text] of accepted)
    assert.is(await client.open(lined, id).result({ withinMs: 60_000 }), text, id);
  checkOrder(began);
  for (const id of expired) assert.is((await client.open(late, id).inspect()).reason, 'expired', id);
  checkControl(
    (await client.queues()).find(({ queue }) => queue.endsWith(limited.exec)),
    lines,
  );
  assert.ok(accepted.size > ROUNDS && expired.size > 0, `${accepted.size} jobs, ${expired.size} expired`);
});

/** Jobs of a key begin in the order of their submits: a first start is never behind a later one. */
function checkOrder(began: readonly string[]): void {
  const latest = new Map<string, number>();
  for (const text of began) {
    const [key = '', name = ''] = text.split(' ');
    const [number = 0, n = 0] = name.split('.').map(Number);
    const place = number * 1_000_000 + n;
    assert.ok(place >= (latest.get(key) ?? 0), `${text} began after a later one`);
    latest.set(key, place);
  }
}

/** As acknowledged last, or as the change that was under way at the kill. */
function checkControl(view: QueueView | undefined, lines: readonly string[]): void {
  const limit = Number(last(lines, 'limit'));
  const runningMax = view?.limits.runningMax ?? 0;
  assert.ok(runningMax === limit || runningMax === limit + 1, `${runningMax} after ${limit}`);
  assert.ok(view?.mode === 'paused' || view?.mode === 'draining', view?.mode);
}

kills.run();
