// The actor of mandelbrot.ts, in a module of its own: every thread imports it.
import { defineActor } from '@troupe/core';

export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly iterationsMax: number;
}

/** Computes one row of the Mandelbrot set: for each point the iterations until it escapes. */
export const RowPainter = defineActor('row painter', {
  state: (picture: Picture) => picture,
  handlers: {
    row(ctx, y: number) {
      const { width, height, iterationsMax } = ctx.state;
      const row = new Uint16Array(width);
      for (let x = 0; x < width; x += 1)
        row[x] = escapeTime(-2.2 + (3.2 * x) / width, -1.2 + (2.4 * y) / height, iterationsMax);
      return row;
    },
  },
});

function escapeTime(a: number, b: number, iterationsMax: number): number {
  let [x, y] = [0, 0];
  for (let n = 0; n < iterationsMax; n += 1) {
    const next = x * x - y * y + a;
    y = 2 * x * y + b;
    x = next;
    if (x * x + y * y > 4) return n;
  }
  return iterationsMax;
}
