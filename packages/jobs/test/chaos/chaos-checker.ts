import type { RoleProcess } from '../remote/role-process.js';
import { Echo } from '../remote/sample-jobs.js';
import type { KeptJob } from './kept-jobs.js';

/** Compares the answers that clients have had with the jobs in the folder. */
export class ChaosChecker {
  readonly problems: string[] = [];
  private readonly acked = new Map<string, string>();
  private readonly results = new Map<string, unknown>();

  /** The events that a client printed: a line was printed after the answer it reports. */
  collect(client: RoleProcess): void {
    for (const event of client.events) {
      const id = String(event['id']);
      if (event.kind === 'acked') this.acked.set(id, String(event['input']));
      if (event.kind !== 'result') continue;
      if (this.results.has(id) && this.results.get(id) !== event['output'])
        this.problems.push(`two results for ${id}`);
      this.results.set(id, event['output']);
    }
  }

  get acknowledged(): number {
    return this.acked.size;
  }

  /** The jobs after all have ended. The output of an echo is its input. Returns how many there are. */
  check(all: ReadonlyMap<string, KeptJob>): number {
    const jobs = new Map([...all].filter(([, { exec }]) => exec === Echo.exec));
    const byOutput = new Map<unknown, string>();
    for (const [id, { state, output, at }] of jobs) {
      if (state !== 'done') {
        this.problems.push(`${id} is ${state}`);
        continue;
      }
      const first = byOutput.get(output);
      byOutput.set(output, id);
      if (first === undefined) continue;
      const ms = at - (jobs.get(first)?.at ?? 0);
      this.problems.push(`submit ${output} was accepted twice: ${first}, and ${id} after ${ms} ms`);
    }
    for (const [id, input] of this.acked)
      if (jobs.get(id)?.output !== input)
        this.problems.push(`acknowledged ${id} of input ${input} has the output ${jobs.get(id)?.output}`);
    for (const [id, output] of this.results)
      if (output !== jobs.get(id)?.output) this.problems.push(`${id}: a client had another result`);
    return jobs.size;
  }
}
