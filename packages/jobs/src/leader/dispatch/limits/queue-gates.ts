import { ALL_QUEUES } from '../../../job/queue-control.js';
import type { QueueControl } from '../../../ledger/queue-controls.js';
import type { ExecQueue } from '../exec-queue.js';
import { QueueGate } from './queue-gate.js';

/** The gates of queues that operators have limited or paused; most leaders have none. */
export class QueueGates {
  /** That of all queues together. */
  all: QueueGate | undefined = undefined;
  private readonly gates = new Map<string, QueueGate>();

  of(queue: string): QueueGate | undefined {
    if (queue === ALL_QUEUES) return this.all;
    return this.gates.size === 0 ? undefined : this.gates.get(queue);
  }

  /**
   * `queues`: those that it is about. The gate opens or closes at once; a rate that is new has a full bucket
   * unless `emptyAt` is given.
   */
  change(control: QueueControl, queues: readonly ExecQueue[], emptyAt: number): QueueGate {
    const { queue } = control;
    let gate = this.of(queue);
    if (gate === undefined) {
      gate = new QueueGate(
        queue,
        queues.reduce((sum, { running }) => sum + running, 0),
      );
      if (queue === ALL_QUEUES) this.all = gate;
      else {
        this.gates.set(queue, gate);
        for (const one of queues) one.gate = gate;
      }
    }
    gate.change(control, emptyAt);
    return gate;
  }

  /** Nothing is set for this queue any more. */
  remove(queue: string, queues: readonly ExecQueue[]): readonly ExecQueue[] {
    const gate = this.of(queue);
    if (gate === undefined) return [];
    if (queue === ALL_QUEUES) this.all = undefined;
    else {
      this.gates.delete(queue);
      for (const one of queues) one.gate = undefined;
    }
    return gate.takeParked();
  }

  /** When a gate that holds up queues opens by its rate. */
  nextAt(now: number): number {
    let next = this.all?.opensAt(now) ?? Number.POSITIVE_INFINITY;
    for (const gate of this.gates.values()) if (gate.hasParked) next = Math.min(next, gate.opensAt(now));
    return next > now ? next : Number.POSITIVE_INFINITY;
  }

  /** The queues whose gates have opened. */
  *opened(now: number): Generator<ExecQueue> {
    for (const gate of this.gates.values()) if (gate.hasParked && gate.isOpen(now)) yield* gate.takeParked();
  }
}
