import type { JobHandle } from '@troupe/jobs';
import type { Trial } from '../../runner/suite.js';
import { latenciesOf } from './latencies.js';
import { monotonicMs } from './monotonic-time.js';
import { ticks } from './stream-definitions.js';
import { StreamSystem } from './stream-system.js';

export interface PacedLoad {
  readonly streams: number;
  /** Of each stream. */
  readonly chunks: number;
  readonly periodMs: number;
}

/** Many streams at once, each with a chunk every period; their first chunks are spread over a period. */
export async function pacedTrial({ streams, chunks, periodMs }: PacedLoad): Promise<Trial> {
  const system = await StreamSystem.open({ slots: streams });
  return {
    async run() {
      const attempted = streams * chunks;
      const latencies = new Float64Array(attempted);
      let completed = 0;
      const read = async (job: JobHandle<typeof ticks>): Promise<void> => {
        let next = 0;
        for await (const { number, dueMs } of job.stream()) {
          latencies[completed] = monotonicMs() - dueMs;
          if (number === next) completed += 1;
          next += 1;
        }
      };
      const jobs = await Promise.all(
        Array.from({ length: streams }, (_, i) =>
          system.client.submit(
            ticks,
            // Readers have time to come before the first chunk.
            { chunks, periodMs, phaseMs: 1_000 + (i * periodMs) / streams },
            { streaming: true },
          ),
        ),
      );
      const startedAt = performance.now();
      const cpuBefore = await system.leaderCpuSeconds();
      await Promise.all(jobs.map(read));
      const seconds = (performance.now() - startedAt) / 1_000;
      const leaderCores = ((await system.leaderCpuSeconds()) - cpuBefore) / seconds;
      return { attempted, completed, seconds, ...latenciesOf(latencies), extra: { leaderCores } };
    },
    close: () => system.close(),
  };
}
