import type { RoleProcess } from '../remote/role-process.js';
import { Fed } from '../remote/sample-jobs.js';
import type { KeptJob } from './kept-jobs.js';

/**
 * Compares the items that clients know to be accepted with those that the finished runners took: a runner returns its
 * items, and those of a job have one feeder, which numbers them.
 */
export class FeedChecker {
  readonly problems: string[] = [];
  private readonly accepted = new Map<string, string>();

  /** The events that a feeder printed: a line was printed after the answer it reports. */
  collect(feeder: RoleProcess): void {
    for (const event of feeder.events)
      if (event.kind === 'fed') this.accepted.set(String(event['item']), String(event['id']));
  }

  get acknowledged(): number {
    return this.accepted.size;
  }

  /** The jobs after all have ended. Returns the number of fed jobs that are done. */
  check(all: ReadonlyMap<string, KeptJob>): number {
    const outputs = new Map<string, readonly string[]>();
    for (const [id, { exec, output }] of all)
      if (exec === Fed.exec && output !== undefined) outputs.set(id, output as readonly string[]);
    for (const [item, id] of this.accepted) {
      const isTaken = outputs.get(id)?.includes(item) ?? all.has(id);
      if (!isTaken) this.problems.push(`item ${item} of ${id} was accepted, and its runner did not get it`);
    }
    for (const [id, items] of outputs) {
      const numbers = items.map((item) => Number(item.slice(item.lastIndexOf(':') + 1)));
      const isInOrder = numbers.every((no, at) => at === 0 || no > (numbers[at - 1] as number));
      if (!isInOrder) this.problems.push(`${id}: items twice or out of order: ${items.join()}`);
    }
    return outputs.size;
  }
}
