import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connectClient } from '@troupe/jobs';
import { freePort } from '@troupe/postgres/testing';
import type { Trial } from '../../runner/suite.js';
import { digest } from '../jobs/job-definitions.js';
import { isResultOf } from '../jobs/payload.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { latenciesOf } from '../streaming/latencies.js';
import { DatabaseServers } from './database-servers.js';
import { closeAll, forkLeader, forkWorker } from './database-system.js';

/** Jobs that are under way when a leader ends. */
const OUTSTANDING = 50;

/** One of two leaders: its process is started again after each end, and stands by then. */
class LeaderPlace {
  readonly port: number;
  private readonly url: string;
  process: ChildProcess;
  private message: Promise<unknown>;

  constructor(url: string, port: number) {
    this.url = url;
    this.port = port;
    this.process = this.fork();
    this.message = once(this.process, 'message');
  }

  /** It leads, or stands by. */
  async isReady(): Promise<void> {
    await this.message;
  }

  restart(): void {
    this.process = this.fork();
    this.message = once(this.process, 'message');
  }

  private fork(): ChildProcess {
    return forkLeader(this.url, this.port, `bench-${this.port}`);
  }
}

/** Leaders end by that signal, one after another; times are from the signal to the end of the next job. */
export async function takeOverTrial(takeOvers: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<Trial> {
  const servers = await DatabaseServers.start();
  const places: LeaderPlace[] = [];
  for (let at = 0; at < 2; at += 1) {
    const place = new LeaderPlace(servers.url, await freePort());
    await place.isReady();
    places.push(place);
  }
  const ports = places.map(({ port }) => port);
  const worker = await forkWorker(ports, OUTSTANDING + 1);
  const address = ports.map((port) => ({ port }));
  const client = await connectClient({ address, name: 'bench', withinMs: 60_000 });
  const payloads = new PayloadSource(100);
  const run = async (): Promise<boolean> => {
    const payload = payloads.next();
    return isResultOf(payload, await client.run(digest, payload));
  };
  let leading = 0;
  const takeOver = async (): Promise<{ readonly tookMs: number; readonly isComplete: boolean }> => {
    const ended = places[leading] as LeaderPlace; // one of two
    leading = 1 - leading;
    await places[leading]?.isReady();
    const before = Array.from({ length: OUTSTANDING }, run);
    const signalled = performance.now();
    const exited = once(ended.process, 'exit');
    ended.process.kill(signal);
    await exited;
    const isRight = await run();
    const tookMs = performance.now() - signalled;
    const all = await Promise.all(before);
    ended.restart();
    return { tookMs, isComplete: isRight && all.every(Boolean) };
  };
  return {
    async run() {
      const latencies = new Float64Array(takeOvers);
      const startedAt = performance.now();
      let completed = 0;
      for (let at = 0; at < takeOvers; at += 1) {
        const { tookMs, isComplete } = await takeOver();
        latencies[at] = tookMs;
        if (isComplete) completed += 1;
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      return { attempted: takeOvers, completed, seconds, ...latenciesOf(latencies) };
    },
    close: () => closeAll(client, [worker, ...places.map(({ process }) => process)], servers),
  };
}
