import { setTimeout as sleep } from 'node:timers/promises';
import type { System } from '../../adapters/actor-system.js';
import { lateness } from '../../probes/timer-probe.js';
import type { Measurement } from '../../runner/suite.js';
import { probeMeasurement } from '../core/latency-under-load.js';
import { LoadGenerator, oneActorLoad } from '../core/load-generator.js';

const quietCount = 999;
const everyMs = 10;

/**
 * Lateness of 999 quiet actors that receive a message every 10 ms, while one busy actor always has messages.
 * It counts from the due time of the message, so that a loop too blocked to send it does not look healthy.
 */
export function quietActorsUnderLoad(system: System | undefined, ms: number): () => Promise<Measurement> {
  if (system === undefined) return () => idleLoop(ms);
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
  const generator = new LoadGenerator(system, oneActorLoad);
  return async () => {
    late = [];
    const actors = Array.from({ length: quietCount }, () => system.spawn(Quiet));
    const started = performance.now();
    let rounds = 0;
    const sendDue = (): void => {
      for (; started + (rounds + 1) * everyMs <= performance.now(); rounds += 1) {
        const due = started + (rounds + 1) * everyMs;
        for (const actor of actors) tick(actor, due);
      }
    };
    const timer = setInterval(sendDue, everyMs);
    const work = await generator.run(ms);
    sendDue();
    clearInterval(timer);
    while (late.length < rounds * quietCount) await sleep(1);
    for (const actor of actors) system.stop(actor);
    return probeMeasurement(work, lateness(late), ms);
  };
}

/** The same messages as plain calls on an idle event loop. */
async function idleLoop(ms: number): Promise<Measurement> {
  const late: number[] = [];
  const started = performance.now();
  let rounds = 0;
  const timer = setInterval(() => {
    rounds += 1;
    const due = started + rounds * everyMs;
    for (let index = 0; index < quietCount; index += 1) late.push(Math.max(0, performance.now() - due));
  }, everyMs);
  await sleep(ms);
  clearInterval(timer);
  return probeMeasurement(undefined, lateness(late), ms);
}
