import { SeededRandom } from '@troupe/core/testing';
import type { Client } from '@troupe/jobs';
import { connectClient } from '../checked-processes.js';
import { leaderProcess, RoleProcess, RoleProcesses, workerProcess } from '../remote/role-process.js';
import { readTokens, type TokenJob } from './read-tokens.js';

const KILLS = ['kill-leader', 'kill-worker', 'kill-client'] as const;
type Kill = (typeof KILLS)[number];

const SLOTS = 4;
const READER_LANES = '3';

export interface StreamReport {
  readonly killed: Readonly<Partial<Record<Kill, number>>>;
  readonly streams: number;
  /** Streams that another process has read on, from the last position of a killed one. */
  readonly resumed: number;
  readonly problems: readonly string[];
}

/**
 * Kill -9 in mid-stream: of the leader, of a worker, of a client that reads. Every stream is read to its end, by
 * its client or, where that was killed, by another process from the last position that it had printed.
 */
export class StreamCampaign implements AsyncDisposable {
  private readonly random: SeededRandom;
  private readonly dir: string;
  private readonly processes = new RoleProcesses();
  private readonly killed: Partial<Record<Kill, number>> = {};
  private readonly problems: string[] = [];
  private readonly workers: RoleProcess[] = [];
  private readonly readers: RoleProcess[] = [];
  private readonly resumed: Promise<void>[] = [];
  private leader: RoleProcess & { readonly port: number };
  private readonly client: Client;
  private streams = 0;

  private constructor(
    seed: number,
    dir: string,
    leader: RoleProcess & { readonly port: number },
    client: Client,
  ) {
    this.random = new SeededRandom(seed);
    this.dir = dir;
    this.leader = leader;
    this.client = client;
  }

  static async start({
    seed,
    dir,
  }: {
    readonly seed: number;
    readonly dir: string;
  }): Promise<StreamCampaign> {
    const leader = await leaderProcess(dir);
    const client = await connectClient({ address: { port: leader.port }, withinMs: 30_000 });
    const campaign = new StreamCampaign(seed, dir, leader, client);
    await campaign.processes.add(Promise.resolve(leader));
    for (const at of [0, 1]) {
      campaign.workers.push(await campaign.startWorker(at));
      campaign.readers.push(await campaign.startReader(at));
    }
    return campaign;
  }

  /** Kills that process, or one that the seed chooses, while a reader is in mid-stream. */
  async round(chosen?: Kill): Promise<void> {
    const at = this.random.between(0, 1);
    const reader = this.readers[at] as RoleProcess;
    const seen = reader.events.length;
    await reader.event((event) => event.kind === 'reading' && reader.events.indexOf(event) >= seen);
    const kill = chosen ?? (KILLS[this.random.between(0, KILLS.length - 1)] as Kill);
    this.killed[kill] = (this.killed[kill] ?? 0) + 1;
    if (kill === 'kill-leader') {
      await this.leader.kill();
      this.leader = await this.processes.add(leaderProcess(this.dir, this.leader.port));
    } else if (kill === 'kill-worker') {
      await this.workers[at]?.kill();
      this.workers[at] = await this.startWorker(at);
    } else {
      await reader.kill();
      this.readOn(reader);
      this.readers[at] = await this.startReader(at);
    }
  }

  async finish(): Promise<StreamReport> {
    for (const reader of this.readers) {
      reader.signal('SIGTERM');
      const code = await reader.exited;
      if (code !== 0) this.problems.push(`a reader ended with ${code}`);
      this.collect(reader);
    }
    await Promise.all(this.resumed);
    this.client.close();
    for (const worker of this.workers) await worker.kill();
    this.leader.signal('SIGTERM');
    const code = await this.leader.exited;
    if (code !== 0) this.problems.push(`the leader ended with ${code}`);
    const { killed, streams, problems } = this;
    return { killed, streams, resumed: this.resumed.length, problems };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.processes[Symbol.asyncDispose]();
  }

  /** The streams that a killed reader has not read to their end. */
  private readOn(reader: RoleProcess): void {
    this.collect(reader);
    for (const [id, job] of unfinished(reader)) {
      const last = reader.events.findLast((event) => event.kind === 'reading' && event['id'] === id);
      const from = { attempt: Number(last?.['attempt'] ?? 0), offset: Number(last?.['offset'] ?? 0) };
      this.resumed.push(
        readTokens(this.client, job, { from }).then((problems) => {
          this.streams += 1;
          this.problems.push(
            ...problems.map((problem) => `read on from ${JSON.stringify(from)}: ${problem}`),
          );
        }),
      );
    }
  }

  private collect({ events }: RoleProcess): void {
    this.streams += events.filter(({ kind }) => kind === 'streamed').length;
    for (const event of events) if (event.kind === 'problem') this.problems.push(String(event['text']));
  }

  private startWorker(at: number): Promise<RoleProcess> {
    return this.processes.add(workerProcess(this.leader.port, `w${at}`, SLOTS));
  }

  private startReader(at: number): Promise<RoleProcess> {
    const args = ['reader', String(this.leader.port), `r${at}`, READER_LANES];
    return this.processes.add(new RoleProcess(args).ready());
  }
}

function unfinished({ events }: RoleProcess): Map<string, TokenJob> {
  const open = new Map<string, TokenJob>();
  for (const event of events) {
    const id = String(event['id']);
    if (event.kind === 'submitted')
      open.set(id, { id, count: Number(event['count']), isDurable: event['isDurable'] === true });
    else if (event.kind === 'streamed') open.delete(id);
  }
  return open;
}
