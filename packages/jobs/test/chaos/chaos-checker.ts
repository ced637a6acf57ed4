import { decodeRecords, payloadText } from '@troupe/jobs';
import { dumpWal } from '@troupe/wal';
import type { RoleProcess } from '../remote/role-process.js';
import { Echo } from '../remote/sample-jobs.js';

/** A job as the log holds it. */
interface LoggedJob {
  readonly input: string;
  /** Record time. */
  readonly at: number;
  acks: number;
  result: string;
}

/** Compares the answers that clients have had with the jobs in the log. */
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

  /** The log after all jobs have ended. Returns how many there are. */
  async check(dir: string): Promise<number> {
    const jobs = await jobsInLog(dir);
    const byInput = new Map<string, string>();
    for (const [id, { input, at }] of jobs) {
      const first = byInput.get(input);
      if (first !== undefined) {
        const ms = at - (jobs.get(first)?.at ?? 0);
        this.problems.push(`submit ${input} was accepted twice: ${first}, and ${id} after ${ms} ms`);
      }
      byInput.set(input, id);
    }
    for (const [id, input] of this.acked)
      if (jobs.get(id)?.input !== input) this.problems.push(`acknowledged ${id} is not in the log`);
    for (const [id, { acks, input, result }] of jobs) {
      if (acks !== 1) this.problems.push(`${id} has ${acks} results`);
      else if (result !== input) this.problems.push(`${id}: result ${result} of input ${input}`);
    }
    for (const [id, output] of this.results)
      if (output !== jobs.get(id)?.result) this.problems.push(`${id}: a client had another result`);
    return jobs.size;
  }
}

async function jobsInLog(dir: string): Promise<Map<string, LoggedJob>> {
  const jobs = new Map<string, LoggedJob>();
  /** Of the jobs whose output is their input. */
  const policies = new Set<number>();
  let tag = '';
  const of = (job: number): LoggedJob | undefined => jobs.get(`${tag}-${job.toString(36)}`);
  await dumpWal(dir, (entry) => {
    if (entry.kind !== 'record') return;
    decodeRecords(entry.payload, (record) => {
      if (record.type === 'genesis') tag = record.tag;
      else if (record.type === 'policy' && record.policy.exec === Echo.exec) policies.add(record.no);
      else if (record.type === 'enqueue' && policies.has(record.policy)) {
        const input = JSON.parse(payloadText(record.payload)) as string;
        jobs.set(`${tag}-${record.job.toString(36)}`, { input, at: record.at, acks: 0, result: '' });
      } else if (record.type === 'ack') {
        const job = of(record.job);
        if (job === undefined) return;
        job.acks += 1;
        job.result = JSON.parse(payloadText(record.result)) as string;
      }
    });
  });
  return jobs;
}
