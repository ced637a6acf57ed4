import { fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from '@troupe/jobs';
import type { Case } from '../../runner/suite.js';
import { firstMessage, stopProcess } from '../jobs/child-processes.js';
import { digest, waiting } from '../jobs/job-definitions.js';
import { PayloadSource } from '../jobs/payload-source.js';
import { openEmbedded, PAYLOAD_BYTES, runWindow } from '../jobs-embedded/embedded-setup.js';

/** Calls at once. */
const CALLS = 1_000;
/** Schedules before the measurement. */
const FIRST = 10_000;
const RUN_JOBS = 20_000;
const RUN_WINDOW = 1_000;

/** Schedules that do not run during the measurement, of ten patterns. */
async function addSchedules(client: Client, count: number, payloads: PayloadSource): Promise<void> {
  const input = payloads.next();
  for (let from = 0; from < count; from += CALLS) {
    const calls = Array.from({ length: Math.min(CALLS, count - from) }, (_, i) =>
      client.schedules.add(`schedule-${from + i}`, waiting, input, {
        cron: `0 ${(from + i) % 10} 29 2 *`,
        zone: 'Europe/Berlin',
        withinMs: 600_000,
      }),
    );
    await Promise.all(calls);
  }
}

/** Memory of a schedule in its leader. */
export function scheduleMemory(count: number): Case {
  return {
    benchmark: 'schedule-memory',
    unit: 'schedules',
    group: 'time',
    headline: 'heapBytes',
    note: 'heap and array buffers per schedule, all with one input and ten patterns; rssBytes is the growth of the process',
    systems: ['troupe'],
    repeat: { warmups: 0, iterations: 1, budgetMs: 120_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const schedules = Math.max(CALLS, Math.round(count * scale));
      const setup = await openEmbedded(0);
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      // The list of acts is full then, and buffers have grown.
      await addSchedules(setup.client, FIRST, payloads);
      return {
        async run() {
          const before = memory();
          const started = performance.now();
          await addSchedules(setup.client, schedules + FIRST, payloads);
          const seconds = (performance.now() - started) / 1_000;
          const after = memory();
          const last = await setup.client.schedules.list({
            after: `schedule-${schedules + FIRST - 2}`,
            max: 1_000,
          });
          const completed = last.some(({ name }) => name === `schedule-${schedules + FIRST - 1}`)
            ? schedules
            : 0;
          const heapBytes = (after.heap - before.heap) / schedules;
          return {
            attempted: schedules,
            completed,
            seconds,
            heapBytes,
            extra: { rssBytes: (after.rss - before.rss) / schedules },
          };
        },
        close: () => setup.close(),
      };
    },
  };
}

/** A leader without load that has read its folder. */
interface OpenedLeader {
  readonly schedules: number;
  readonly rss: number;
}

async function openedLeader(dir: string): Promise<OpenedLeader> {
  const program = fileURLToPath(new URL('./opened-leader-process.js', import.meta.url));
  const child = fork(program, [dir], { execArgv: ['--expose-gc'] });
  const opened = (await firstMessage(child)) as OpenedLeader; // its one message
  await stopProcess(child);
  return opened;
}

/** Folders of leaders that are restarted, by the schedules in them. */
interface ScheduleFolders {
  readonly many: string;
  /** As many records as `many`, about few schedules: what reading a log leaves to the engine is in both. */
  readonly changed: string;
  /** Few schedules, and a short log. */
  readonly few: string;
}

async function fillFolders(dir: string, schedules: number): Promise<ScheduleFolders> {
  const folders = { many: join(dir, 'many'), changed: join(dir, 'changed'), few: join(dir, 'few') };
  for (const [name, folder] of Object.entries(folders)) {
    const setup = await openEmbedded(0, folder);
    const payloads = new PayloadSource(PAYLOAD_BYTES);
    await addSchedules(setup.client, name === 'many' ? schedules : CALLS, payloads);
    // Another input each time: an equal schedule would be no record.
    for (let added = CALLS; name === 'changed' && added < schedules; added += CALLS)
      await addSchedules(setup.client, CALLS, payloads);
    await setup.close();
  }
  return folders;
}

/** Resident memory of a leader that has been restarted, by its number of schedules. */
export function scheduleResidentMemory(count: number): Case {
  return {
    benchmark: 'schedule-rss',
    unit: 'schedules',
    group: 'time',
    headline: 'heapBytes',
    note: `resident memory of a restarted leader process with schedules, less that of one whose log has as many records about ${CALLS} schedules, per schedule; overShortLogBytes: less that of one with ${CALLS} schedules and as many records; all after garbage collections`,
    systems: ['troupe'],
    repeat: { warmups: 1, iterations: 5, budgetMs: 120_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const schedules = Math.max(2, Math.round((count * scale) / CALLS)) * CALLS;
      const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-'));
      const folders = await fillFolders(dir, schedules);
      return {
        async run() {
          const started = performance.now();
          const many = await openedLeader(folders.many);
          const changed = await openedLeader(folders.changed);
          const few = await openedLeader(folders.few);
          const more = schedules - CALLS;
          return {
            attempted: more,
            completed: many.schedules - changed.schedules,
            seconds: (performance.now() - started) / 1_000,
            heapBytes: (many.rss - changed.rss) / more,
            extra: { overShortLogBytes: (many.rss - few.rss) / more },
          };
        },
        close: () => rm(dir, { recursive: true, force: true }),
      };
    },
  };
}

/** Jobs a second of a leader with schedules, over one without, in periods that alternate. */
export function runBesideSchedules(count: number): Case {
  return {
    benchmark: 'run-beside-schedules',
    unit: 'jobs',
    group: 'time',
    note: `run() with ${RUN_WINDOW} jobs outstanding, beside schedules that are not due; timeRatio is its time over that of a leader without schedules, in the period before`,
    systems: ['troupe'],
    repeat: { warmups: 1, iterations: 4, budgetMs: 120_000 },
    timeoutMs: 300_000,
    prepare: async ({ scale }) => {
      const payloads = new PayloadSource(PAYLOAD_BYTES);
      const [beside, without] = [await openEmbedded(64), await openEmbedded(64)];
      await addSchedules(beside.client, Math.max(CALLS, Math.round(count * scale)), payloads);
      const jobs = Math.max(RUN_WINDOW, Math.round(RUN_JOBS * scale));
      const period = async (client: Client): Promise<{ correct: number; seconds: number }> => {
        const started = performance.now();
        const correct = await runWindow(jobs, RUN_WINDOW, payloads, (payload) => client.run(digest, payload));
        return { correct, seconds: (performance.now() - started) / 1_000 };
      };
      return {
        async run() {
          const plain = await period(without.client);
          const measured = await period(beside.client);
          const { correct, seconds } = measured;
          return {
            attempted: jobs,
            completed: correct,
            seconds,
            extra: { timeRatio: seconds / plain.seconds },
          };
        },
        close: async () => {
          await beside.close();
          await without.close();
        },
      };
    },
  };
}

function memory(): { readonly heap: number; readonly rss: number } {
  globalThis.gc?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: heapUsed + external, rss };
}
