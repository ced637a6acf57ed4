import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, connectClient } from '@troupe/jobs';
import { firstMessage, stopProcess, untilStarted } from '../jobs/child-processes.js';

export interface StreamSystemOptions {
  /** Handler slots of the worker. */
  readonly slots: number;
  /** The heap of the leader; that of Node unless given. */
  readonly leaderHeapMb?: number;
}

/** A leader and a worker as processes, and a client in this one. */
export class StreamSystem {
  readonly client: Client;
  private readonly leaderPid: number;
  private readonly end: () => Promise<void>;

  private constructor(client: Client, leaderPid: number, end: () => Promise<void>) {
    this.client = client;
    this.leaderPid = leaderPid;
    this.end = end;
  }

  static async open({ slots, leaderHeapMb }: StreamSystemOptions): Promise<StreamSystem> {
    const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
    const program = new URL('./leader-and-worker-process.js', import.meta.url);
    const heap = leaderHeapMb === undefined ? [] : [`--max-old-space-size=${leaderHeapMb}`];
    const leader = fork(program, ['leader', dir], { execArgv: heap });
    const port = Number(await firstMessage(leader));
    const worker = await untilStarted(
      fork(program, ['worker', String(port), String(slots)], { execArgv: [] }),
    );
    const client = await connectClient({ address: { port }, name: 'bench', withinMs: 60_000 });
    return new StreamSystem(client, leader.pid ?? 0, async () => {
      client.close();
      await stopProcess(worker);
      await stopProcess(leader);
      await rm(dir, { recursive: true, force: true });
    });
  }

  /** The resident memory of the leader, in MB. */
  async leaderRssMb(): Promise<number> {
    const status = await readFile(`/proc/${this.leaderPid}/status`, 'utf8');
    return (Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024) / 1e6;
  }

  /** Processor time of the leader since its start, in seconds. */
  async leaderCpuSeconds(): Promise<number> {
    const stat = await readFile(`/proc/${this.leaderPid}/stat`, 'utf8');
    // Fields are counted behind the name, which may have blanks: user and system time in ticks of 10 ms.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  close(): Promise<void> {
    return this.end();
  }
}
