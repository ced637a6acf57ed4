import type { Trial } from '../../runner/suite.js';
import { ChunkCheck, type ChunkRange, ChunkTexts } from './chunk-text.js';
import { readRange } from './read-range.js';
import { openStreamPeer, STREAM_PEERS } from './stream-peers.js';
import { StreamSystem } from './stream-system.js';

export const CHUNK_BYTES = 100;

interface RangeReader {
  read(range: ChunkRange, check: ChunkCheck): Promise<void>;
  close(): Promise<void>;
}

/** Chunks of one stream, as fast as its reader takes them. */
export async function chunkTrial(system: string, count: number): Promise<Trial> {
  const texts = new ChunkTexts(CHUNK_BYTES);
  const reader = STREAM_PEERS.includes(system) ? await peerReader(system) : await troupeReader();
  let first = 0;
  return {
    async run() {
      const range = { first, count, bytes: CHUNK_BYTES };
      first += count;
      const check = new ChunkCheck(range, texts);
      const startedAt = performance.now();
      await reader.read(range, check);
      const seconds = (performance.now() - startedAt) / 1_000;
      return { attempted: count, completed: check.correct, seconds };
    },
    close: () => reader.close(),
  };
}

async function peerReader(system: string): Promise<RangeReader> {
  const peer = await openStreamPeer(system);
  return {
    read: (range, check) => peer.read(range, (chunk) => check.take(chunk)),
    close: () => peer.close(),
  };
}

async function troupeReader(): Promise<RangeReader> {
  const system = await StreamSystem.open({ slots: 4 });
  return {
    read: (range, check) => readRange(system.client, range, check),
    close: () => system.close(),
  };
}
