import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { connectGroups } from '@troupe/jobs';
import type { Trial } from '../../runner/suite.js';
import { firstMessage, stopProcess, untilStarted } from '../jobs/child-processes.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { runLoad } from '../jobs/run-load.js';
import { DatabaseServers } from './database-servers.js';
import { forkLeader } from './database-system.js';
import { GROUP_JOBS } from './group-jobs.js';

const workerProgram = fileURLToPath(new URL('./group-worker-process.js', import.meta.url));

/** Two groups with one leader, or with one each, whose schemas are in one database. */
export async function groupTrial(leaders: 1 | 2, jobs: number, outstanding: number): Promise<Trial> {
  const servers = await DatabaseServers.start();
  const processes = Array.from({ length: leaders }, (_, i) =>
    forkLeader(servers.url, 0, `bench-${i}`, `group_${i}`),
  );
  const ports = (await Promise.all(processes.map(firstMessage))).map(Number);
  const [left = 0, right = left] = ports;
  const words = [String(left), String(right), String(outstanding)];
  const worker = await untilStarted(fork(workerProgram, words, { execArgv: [] }));
  const client = await connectGroups({
    leaders: { left: { port: left }, right: { port: right } },
    withinMs: 60_000,
  });
  const payloads = new PayloadSource(100);
  return {
    run: () =>
      runLoad(
        (payload, caller) => client.run(GROUP_JOBS[caller % 2 === 0 ? 0 : 1], payload),
        () => payloads.next(),
        { jobs, outstanding, bytes: 100 },
      ),
    async close() {
      client.close();
      for (const process of [worker, ...processes]) await stopProcess(process);
      await servers[Symbol.asyncDispose]();
    },
  };
}
