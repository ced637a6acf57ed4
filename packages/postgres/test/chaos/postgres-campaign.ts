import { type Client, connectClient, defineJob, type JobHandle } from '@troupe/jobs';
import { PostgresServer } from '@troupe/postgres/testing';
import postgres from 'postgres';
import { anything } from '../plain-schema.js';
import { RoleProcess } from '../role-process.js';
import { LeaderSlot } from './leader-slot.js';
import { ReplicatedServers } from './replicated-servers.js';
import type { SmallDisk } from './small-disk.js';

const Echo = defineJob('sample.echo', { input: anything, output: anything });
const SUBMITS_AT_ONCE = 16;
const JOBS_BETWEEN_FAULTS = 300;
const MESSAGE_BYTES = 64 * 1024;
/** The time from the end of a leader to the end of the next job. */
const TAKE_OVER_MS_MAX = 2_000;

export const FAULTS = ['kill-leader', 'hand-over', 'stop-leader', 'cut', 'fail-over', 'full-disk'] as const;
export type Fault = (typeof FAULTS)[number];

export interface CampaignReport {
  readonly acknowledged: number;
  readonly takeOverMs: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
}

/** Two leaders, a worker and a client under load, while faults come one after another. */
export class PostgresCampaign implements AsyncDisposable {
  private readonly servers: ReplicatedServers | undefined;
  private readonly single: PostgresServer | undefined;
  private readonly disk: SmallDisk | undefined;
  private readonly slots: readonly LeaderSlot[];
  private readonly worker: RoleProcess;
  private readonly client: Client;
  private readonly problems: string[] = [];
  private readonly takeOvers = new Map<Fault, number[]>();
  private submitted = 0;
  private acknowledged = 0;
  private isOver = false;
  private readonly load: Promise<unknown>;

  private constructor(
    servers: {
      readonly replicated?: ReplicatedServers;
      readonly single?: PostgresServer;
      readonly disk?: SmallDisk;
    },
    slots: readonly LeaderSlot[],
    worker: RoleProcess,
    client: Client,
  ) {
    this.servers = servers.replicated;
    this.single = servers.single;
    this.disk = servers.disk;
    this.slots = slots;
    this.worker = worker;
    this.client = client;
    this.load = Promise.all(Array.from({ length: SUBMITS_AT_ONCE }, () => this.submitAll()));
  }

  /** With a disk there is one server, on it; otherwise a primary and two standbys. */
  static async start(disk?: SmallDisk): Promise<PostgresCampaign> {
    const replicated = disk === undefined ? await ReplicatedServers.start() : undefined;
    const single = disk === undefined ? undefined : await PostgresServer.start(SMALL, disk.path);
    const servers = replicated?.servers ?? [single as PostgresServer];
    const slots = [await LeaderSlot.start('first', servers), await LeaderSlot.start('second', servers)];
    const worker = new RoleProcess('worker', slots.map(({ port }) => port).join(','));
    const client = await connectClient({
      address: slots.map(({ port }) => ({ port })),
      name: 'chaos',
      withinMs: 60_000,
    });
    await worker.event('ready');
    const given = { ...(replicated && { replicated }), ...(single && { single }), ...(disk && { disk }) };
    return new PostgresCampaign(given, slots, worker, client);
  }

  /** One fault, and the next job that is done after it. */
  async round(fault: Fault): Promise<void> {
    const leader = await this.leading();
    await this.standing(leader);
    await this.loaded();
    const { process } = leader;
    if (fault === 'kill-leader') process.signal('SIGKILL');
    if (fault === 'hand-over') process.signal('SIGTERM');
    if (fault === 'stop-leader') process.signal('SIGSTOP');
    if (fault === 'cut') for (const link of leader.links) link.cut();
    if (fault === 'fail-over') await this.failOver();
    if (fault === 'full-disk') await this.fillDisk();
    const from = performance.now();
    await this.run();
    const tookMs = Math.round(performance.now() - from);
    this.takeOvers.set(fault, [...(this.takeOvers.get(fault) ?? []), tookMs]);
    if (fault === 'kill-leader' && tookMs > TAKE_OVER_MS_MAX)
      this.problems.push(`the next job was done ${tookMs} ms after the end of its leader`);
    if (fault === 'stop-leader') process.signal('SIGCONT');
    if (fault === 'cut') for (const link of leader.links) link.heal();
    if (fault !== 'stop-leader' && fault !== 'cut') return;
    const end = await process.exited;
    if (end !== 75) this.problems.push(`${fault}: the leader of before ended with ${end}`);
  }

  /** Everything that was acknowledged is there once, with its result. */
  async finish(): Promise<CampaignReport> {
    this.isOver = true;
    await this.load;
    const { accepted, counts } = await this.client.overview();
    if (accepted !== this.acknowledged)
      this.problems.push(`${accepted} jobs were accepted for ${this.acknowledged} submits`);
    if (counts.done !== accepted) this.problems.push(`${counts.done} of ${accepted} jobs are done`);
    const takeOverMs = Object.fromEntries([...this.takeOvers].map(([fault, all]) => [fault, summaryOf(all)]));
    return { acknowledged: this.acknowledged, takeOverMs, problems: this.problems };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.close();
    await this.worker[Symbol.asyncDispose]();
    for (const slot of this.slots) await slot[Symbol.asyncDispose]();
    await this.servers?.[Symbol.asyncDispose]();
    await this.single?.[Symbol.asyncDispose]();
  }

  private async submitAll(): Promise<void> {
    while (!this.isOver) await this.run();
  }

  /** The output of an echo is its input: another one, or none, is a job that was lost or mixed up. */
  private async run(): Promise<void> {
    this.submitted += 1;
    const input = this.submitted;
    try {
      const job = await this.submit(input);
      this.acknowledged += 1;
      const output = await job.result();
      if (output !== input) this.problems.push(`job of input ${input} has the output ${output}`);
    } catch (error) {
      this.problems.push(`job of input ${input}: ${(error as Error).message}`);
    }
  }

  /** A leader that hands over refuses new jobs: they are for the next one. */
  private async submit(input: number): Promise<JobHandle<typeof Echo>> {
    for (;;) {
      try {
        return await this.client.submit(Echo, input);
      } catch (error) {
        if ((error as { retryable?: boolean }).retryable !== true) throw error;
        await pause();
      }
    }
  }

  private async leading(): Promise<LeaderSlot> {
    for (;;) {
      const found = this.slots.find(({ isLeading }) => isLeading);
      if (found !== undefined) return found;
      await pause();
    }
  }

  /** The other one stands by, so that it can take over. */
  private async standing(leader: LeaderSlot): Promise<void> {
    const other = this.slots.find((slot) => slot !== leader) as LeaderSlot; // there are two
    while (!other.process.events.some(({ kind }) => kind === 'standby')) await pause();
  }

  /** Between two faults the leader is busy. */
  private async loaded(): Promise<void> {
    const until = this.acknowledged + JOBS_BETWEEN_FAULTS;
    while (this.acknowledged < until) await pause();
  }

  private async failOver(): Promise<void> {
    const { servers } = this;
    await servers?.failOver();
    for (const slot of this.slots) slot.retarget(servers?.servers ?? []);
  }

  /** Until the server has found no room for its own log, and then for a while. */
  private async fillDisk(): Promise<void> {
    this.disk?.fill();
    const sql = postgres(this.single?.url ?? '', { max: 1, onnotice: () => undefined });
    let isFull = false;
    while (!isFull) {
      const note = Buffer.alloc(MESSAGE_BYTES).toString('base64');
      isFull = await sql`select pg_logical_emit_message(false, 'chaos', ${note}), pg_switch_wal()`.then(
        () => false,
        () => true,
      );
    }
    await sql.end({ timeout: 0 });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    this.disk?.free();
    await this.single?.recover();
  }
}

/** Small files of the server's own log, so that a small disk is soon full. */
const SMALL = { max_wal_size: '64MB', min_wal_size: '32MB' };

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20));
}

function summaryOf(all: readonly number[]): string {
  const sorted = [...all].sort((a, b) => a - b);
  return `${all.length} times, median ${sorted[sorted.length >> 1]}, most ${sorted.at(-1)}`;
}
