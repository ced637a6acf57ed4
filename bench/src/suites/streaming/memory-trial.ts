import type { Trial } from '../../runner/suite.js';
import { ChunkCheck, ChunkTexts } from './chunk-text.js';
import { readRange } from './read-range.js';
import { StreamSystem } from './stream-system.js';

const CHUNK_BYTES = 8_192;
const LEADER_HEAP_MB = 128;
/** The first part: after it the leader has what it keeps. */
const FIRST_SHARE = 0.1;

/** The memory of a leader after a tenth of the chunks, and after all of them. */
export async function memoryTrial(mb: number): Promise<Trial> {
  const system = await StreamSystem.open({ slots: 1, leaderHeapMb: LEADER_HEAP_MB });
  const texts = new ChunkTexts(CHUNK_BYTES);
  const total = Math.ceil((mb * 1e6) / CHUNK_BYTES);
  const start = Math.ceil(total * FIRST_SHARE);
  const read = async (first: number, end: number): Promise<number> => {
    const range = { first, count: end - first, bytes: CHUNK_BYTES };
    const check = new ChunkCheck(range, texts);
    await readRange(system.client, range, check);
    return check.correct;
  };
  return {
    async run() {
      const startedAt = performance.now();
      let correct = await read(0, start);
      const rssMb100 = await system.leaderRssMb();
      correct += await read(start, total);
      const seconds = (performance.now() - startedAt) / 1_000;
      const rssMb1000 = await system.leaderRssMb();
      const completed = correct === total ? mb : (correct * CHUNK_BYTES) / 1e6;
      const extra = { rssMb100, rssMb1000, grownMb: rssMb1000 - rssMb100 };
      return { attempted: mb, completed, seconds, extra };
    },
    close: () => system.close(),
  };
}
