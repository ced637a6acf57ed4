import type { Trial } from '../../runner/suite.js';
import { ChunkTexts } from './chunk-text.js';
import { CHUNK_BYTES } from './chunk-trial.js';
import { latenciesOf } from './latencies.js';
import { tokens } from './stream-definitions.js';
import { StreamSystem } from './stream-system.js';

/** One job with one chunk at a time, from its submit to the chunk at the reader. */
export async function firstChunkTrial(jobs: number): Promise<Trial> {
  const system = await StreamSystem.open({ slots: 4 });
  const texts = new ChunkTexts(CHUNK_BYTES);
  let number = 0;
  const runOne = async (): Promise<{ readonly ms: number; readonly isCorrect: boolean }> => {
    const at = performance.now();
    const job = await system.client.stream(tokens, { first: number, count: 1, bytes: CHUNK_BYTES });
    const read: string[] = [];
    let ms = 0;
    for await (const chunk of job) {
      if (read.length === 0) ms = performance.now() - at;
      read.push(chunk);
    }
    const isCorrect = read.length === 1 && read[0] === texts.textOf(number);
    number += 1;
    return { ms, isCorrect };
  };
  return {
    async run() {
      const latencies = new Float64Array(jobs);
      const startedAt = performance.now();
      let completed = 0;
      for (let i = 0; i < jobs; i += 1) {
        const { ms, isCorrect } = await runOne();
        latencies[i] = ms;
        if (isCorrect) completed += 1;
      }
      const seconds = (performance.now() - startedAt) / 1_000;
      return { attempted: jobs, completed, seconds, ...latenciesOf(latencies) };
    },
    close: () => system.close(),
  };
}
