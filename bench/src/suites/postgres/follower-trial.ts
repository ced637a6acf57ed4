import { readFile } from 'node:fs/promises';
import { connectClient } from '@troupe/jobs';
import { freePort } from '@troupe/postgres/testing';
import type { Trial } from '../../runner/suite.js';
import { firstMessage, untilStarted } from '../jobs/child-processes.js';
import { digest } from '../jobs/job-definitions.js';
import { isResultOf } from '../jobs/payload.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { DatabaseServers } from './database-servers.js';
import { closeAll, forkLeader, forkWorker } from './database-system.js';

const PERIOD_MS = 10;

/** Jobs at a fixed rate for a leader; the processor time of the standby that follows it. */
export async function followerTrial(jobsPerSecond: number, periods: number): Promise<Trial> {
  const servers = await DatabaseServers.start();
  const leader = forkLeader(servers.url, 0, 'leader');
  const port = Number(await firstMessage(leader));
  const standby = await untilStarted(forkLeader(servers.url, await freePort(), 'standby'));
  const worker = await forkWorker([port], 16_384);
  const client = await connectClient({ address: { port }, name: 'bench', withinMs: 60_000 });
  const payloads = new PayloadSource(100);
  const perPeriod = (jobsPerSecond * PERIOD_MS) / 1_000;
  return {
    async run() {
      let completed = 0;
      const pending: Promise<void>[] = [];
      const run = async (): Promise<void> => {
        const payload = payloads.next();
        if (isResultOf(payload, await client.run(digest, payload))) completed += 1;
      };
      const cpuBefore = await cpuSecondsOf(standby.pid);
      const startedAt = performance.now();
      for (let period = 0; period < periods; period += 1) {
        const waitMs = startedAt + period * PERIOD_MS - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        for (let i = 0; i < perPeriod; i += 1) pending.push(run());
      }
      await Promise.all(pending);
      const seconds = (performance.now() - startedAt) / 1_000;
      const cpuSeconds = (await cpuSecondsOf(standby.pid)) - cpuBefore;
      const attempted = perPeriod * periods;
      return {
        attempted,
        completed,
        seconds,
        extra: {
          standbyCores: cpuSeconds / seconds,
          standbyCoresAtRate: (cpuSeconds / attempted) * jobsPerSecond,
        },
      };
    },
    close: () => closeAll(client, [worker, standby, leader], servers),
  };
}

/** Processor time of a process since its start. */
async function cpuSecondsOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Fields are counted behind the name, which may have blanks: user and system time in ticks of 10 ms.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
