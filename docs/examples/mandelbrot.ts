// The Mandelbrot set, drawn by one actor on this thread and by a pool on all cores: the same code, placed elsewhere.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { type ActorSystem, createSystem } from '@troupe/core';
import { threads } from '@troupe/threads';
import { type Picture, RowPainter } from './mandelbrot/row-painter.js';

const picture: Picture = { width: 400, height: 240, iterationsMax: 4_000 };
const cores = availableParallelism();

type Draw = (y: number) => Promise<Uint16Array>;

async function timed(draw: Draw): Promise<{ readonly rows: readonly Uint16Array[]; readonly ms: number }> {
  const startedAt = performance.now();
  const rows = await Promise.all(Array.from({ length: picture.height }, (_, y) => draw(y)));
  return { rows, ms: performance.now() - startedAt };
}

function painterOn(system: ActorSystem, on: 'main' | 'each-thread'): Draw {
  const pool = system.spawnPool(RowPainter, {
    size: on === 'main' ? 1 : cores,
    on,
    args: () => picture,
    routing: { pull: { window: 2 } }, // rows in the middle take longer
  });
  return (y) => pool.with({ withinMs: 60_000 }).ask.row(y);
}

await using system = createSystem({ threads: threads({ count: cores }), warn: false });
const [here, everywhere] = [painterOn(system, 'main'), painterOn(system, 'each-thread')];
await Promise.all([timed(here), timed(everywhere)]); // the threads are up, and their code is compiled
const [one, all] = [await timed(here), await timed(everywhere)];

const SHADES = ' .:-=+*#%@';
for (let y = 6; y < picture.height; y += 12) {
  const shades = Array.from({ length: 72 }, (_, x) => {
    const n = all.rows[y]?.[Math.floor((x * picture.width) / 72)] ?? 0;
    return SHADES[n === picture.iterationsMax ? 9 : Math.min(8, Math.floor(Math.log2(n + 1)))];
  });
  console.log(shades.join(''));
}
assert.deepEqual(all.rows, one.rows);
const [ms, msAll] = [Math.round(one.ms), Math.round(all.ms)];
console.log(
  `one thread ${ms} ms, ${cores} threads ${msAll} ms: ${(one.ms / all.ms).toFixed(2)} times as fast`,
);
