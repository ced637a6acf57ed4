import type { System } from '../../adapters/actor-system.js';
import { lateness } from '../../probes/timer-probe.js';
import type { Measurement } from '../../runner/suite.js';
import { health, pause } from '../core/latency-under-load.js';
import { Hog, loneShape } from '../core/load-generator.js';

const quiet = 999;
const everyMs = 10;

/**
 * How late 999 quiet actors handle a message each, every 10 ms, while one hog always has mail. Lateness counts from
 * when the message was due, so that a loop that could not even send it does not look healthy.
 */
export function quietUnderHog(system: System | undefined, ms: number): () => Promise<Measurement> {
  if (system === undefined) return () => idle(ms);
  const tick = system.tell<number>('tick');
  let late: number[] = [];
  const Quiet = system.define({
    name: 'quiet',
    state: () => ({ ticks: 0 }),
    handlers: {
      tick(ctx, due: number) {
        ctx.state.ticks += 1;
        late.push(Math.max(0, performance.now() - due));
      },
    },
  });
  const hog = new Hog(system, loneShape);
  return async () => {
    late = [];
    const actors = Array.from({ length: quiet }, () => system.spawn(Quiet));
    const started = performance.now();
    let rounds = 0;
    const sendDue = (): void => {
      for (; started + (rounds + 1) * everyMs <= performance.now(); rounds += 1) {
        const due = started + (rounds + 1) * everyMs;
        for (const actor of actors) tick(actor, due);
      }
    };
    const timer = setInterval(sendDue, everyMs);
    const work = await hog.run(ms);
    sendDue();
    clearInterval(timer);
    while (late.length < rounds * quiet) await pause(1);
    for (const actor of actors) system.stop(actor);
    return health(work, lateness(late), ms);
  };
}

/** The same messages as plain calls on an empty loop. */
async function idle(ms: number): Promise<Measurement> {
  const late: number[] = [];
  const started = performance.now();
  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
    const due = started + rounds * everyMs;
    for (let index = 0; index < quiet; index += 1) late.push(Math.max(0, performance.now() - due));
  }, everyMs);
  await pause(ms);
  clearInterval(timer);
  return health(undefined, lateness(late), ms);
}
