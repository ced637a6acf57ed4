// timeout: 60s
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runTroupe, type Terminal } from '@troupe/cli';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stage, troupe } from './troupe.js';

const progress = suite('progress');

interface Screen {
  readonly code: number;
  readonly out: string[];
  /** The frames drawn, one after another. */
  readonly drawn: string[];
}

async function onScreen(args: readonly string[], looks: Partial<Terminal> = {}): Promise<Screen> {
  const out: string[] = [];
  const drawn: string[] = [];
  const code = await runTroupe(args, {
    out: (line) => out.push(line),
    err: () => undefined,
    isInteractive: true,
    draw: (text) => drawn.push(text),
    ...looks,
  });
  return { code, out, drawn };
}

/** A bar was drawn, reached its end and cleared its line. */
function assertDrawn({ drawn }: Screen, what: RegExp): void {
  assert.ok(drawn.length >= 2, `${drawn.length} frames`);
  assert.match(drawn.at(-2) ?? '', what);
  assert.is(drawn.at(-1), '');
}

progress('`wal verify` and `wal dump` draw progress on a terminal', async () => {
  await using s = await stage();
  await troupe(['submit', 'math.add', '[1,2]', '--leader', s.at]);
  await s.leader.end();
  const state = join(s.dir, 'state');
  const verified = await onScreen(['wal', 'verify', state]);
  assert.is(verified.code, 0);
  assertDrawn(verified, /^verifying, MiB .* \d+\/\d+ /);
  assert.is(verified.out.length, 1);
  const dumped = await onScreen(['wal', 'dump', state]);
  assertDrawn(dumped, /^reading, MiB .* \d+\/\d+ /);
  assert.ok(dumped.out.length > 1);
  assert.equal((await onScreen(['wal', 'dump', state], { showsResults: true })).drawn, []);
  assert.equal((await onScreen(['wal', 'verify', state], { isInteractive: false })).drawn, []);
});

progress('`submit --file` draws the progress of a large file', async () => {
  await using s = await stage();
  const file = join(s.dir, 'large.json');
  await writeFile(file, JSON.stringify('x'.repeat(4_000_000)));
  const submitted = await onScreen(['submit', 'text.echo', '--file', file, '--leader', s.at]);
  assert.is(submitted.code, 0);
  assert.is(submitted.out.length, 1);
  assertDrawn(submitted, /^text\.echo, KiB .* [\d,]+\/3,907 /);
  assert.ok(submitted.drawn.some((frame) => frame.includes(' 3,907/3,907 ')));
  const small = join(s.dir, 'small.json');
  await writeFile(small, '1');
  assert.equal((await onScreen(['submit', 'text.echo', '--file', small, '--leader', s.at])).drawn, []);
});

progress.run();
