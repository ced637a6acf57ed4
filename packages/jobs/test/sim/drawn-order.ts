import type { Client, JobDefinition, QueueLimits, SubmitOptions } from '@troupe/jobs';
import { LABEL } from './order-model.js';

const QUEUES = ['main/sim.quick', 'main/sim.slow', 'main/sim.flaky', '*'] as const;
/** Of a call after the faults: the leader may be away for a while. */
const HEAL_MS = 50_000;

/** Priorities, order keys, deadlines, labels, limits and modes of one run; about half of the runs have none. */
export class DrawnOrder {
  private readonly random: () => number;
  private readonly isUsed: boolean;
  /** Without these, the rule of priorities can be checked by itself. */
  private readonly hasControls: boolean;

  /** `given`: for planted bugs of the one or the other. */
  constructor(random: () => number, given: 'lines' | 'limits' | undefined) {
    this.random = random;
    this.isUsed = random() < 0.5 || given !== undefined;
    this.hasControls = given === undefined ? this.isUsed && random() < 0.6 : given === 'limits';
  }

  /** The options of one submit. */
  options({ policy }: JobDefinition): SubmitOptions {
    if (!this.isUsed) return {};
    const { random } = this;
    return {
      ...(random() < 0.4 ? { priority: Math.floor(random() * 10) } : {}),
      ...(random() < 0.5 ? { orderKey: `line ${Math.floor(random() * 3)}` } : {}),
      ...(random() < 0.15 ? { startWithinMs: 1 + Math.floor(random() * 1_500) } : {}),
      ...(policy.group === 'main' && random() < 0.15 ? { requires: [LABEL] } : {}),
    };
  }

  /** How long a handler that would fail snoozes instead; undefined: it does not. */
  snoozeMs(): number | undefined {
    return this.isUsed && this.random() < 0.3 ? this.random() * 60 : undefined;
  }

  /** How often an operator changes a queue. */
  get changes(): number {
    return this.hasControls ? Math.floor(this.random() * 8) : 0;
  }

  async change(client: Client): Promise<void> {
    const { random } = this;
    const name = QUEUES[Math.floor(random() * QUEUES.length)] ?? '*';
    const queue = client.queue(name);
    const drawn = random();
    if (drawn < 0.25) await queue.pause();
    else if (drawn < 0.35) await queue.drain();
    else if (drawn < 0.6) await queue.resume();
    else await queue.setLimits(this.limits(name));
  }

  private limits(queue: string): QueueLimits {
    const { random } = this;
    const upTo = (max: number): number => 1 + Math.floor(random() * max);
    return {
      ...(random() < 0.4 ? { runningMax: upTo(3) } : {}),
      ...(random() < 0.3 ? { rate: { jobs: upTo(20), perMs: 500, burst: upTo(4) } } : {}),
      ...(queue !== '*' && random() < 0.3 ? { keyRunningMax: upTo(3) } : {}),
      ...(queue !== '*' && random() < 0.2 ? { keyRate: { jobs: upTo(20), perMs: 500 } } : {}),
    };
  }

  /** Nothing holds up a job any more. */
  async heal(client: Client): Promise<void> {
    if (!this.hasControls) return;
    for (const name of QUEUES) {
      await client.queue(name).resume({ withinMs: HEAL_MS });
      await client.queue(name).setLimits({}, { withinMs: HEAL_MS });
    }
  }
}
