import type { System } from '../../adapters/actor-system.js';
import { lateness } from '../../probes/timer-probe.js';
import type { Measurement } from '../../runner/suite.js';
import { Deferred } from '../deferred.js';

/** Asks per second, within the capacity of every compared system. */
const rate = 20_000;

/**
 * Asks at fixed times, independent of earlier replies; latency counts from the due time. A closed loop would
 * stop asking during a stall and so hide it.
 */
export function openLoopAsk(system: System, ms: number): () => Promise<Measurement> {
  const next = system.ask<number, number>('next');
  const Adder = system.define({
    name: 'open-loop-adder',
    state: () => ({ asked: 0 }),
    handlers: {
      next(ctx, value: number) {
        ctx.state.asked += 1;
        return value + 1;
      },
    },
  });
  const total = Math.round((rate * ms) / 1_000);
  return async () => {
    const adder = system.spawn(Adder);
    const done = new Deferred();
    const late: number[] = [];
    let correct = 0;
    let sent = 0;
    const started = performance.now();
    const send = (index: number): void => {
      const due = started + (index * 1_000) / rate;
      void next(adder, index).then((reply) => {
        late.push(Math.max(0, performance.now() - due));
        if (reply === index + 1) correct += 1;
        if (late.length === total) done.resolve();
      });
    };
    const sendDue = (): void => {
      const due = Math.min(total, Math.floor(((performance.now() - started) * rate) / 1_000));
      for (; sent < due; sent += 1) send(sent);
      if (sent < total) setImmediate(sendDue);
    };
    sendDue();
    await done.promise;
    const seconds = (performance.now() - started) / 1_000;
    system.stop(adder);
    const { p50, p99, max } = lateness(late);
    return { attempted: total, completed: correct, seconds, p50, p99, max };
  };
}
