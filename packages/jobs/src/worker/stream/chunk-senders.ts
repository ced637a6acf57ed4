import type { HeldStream, StreamChunks, StreamWindow } from '../../protocol/stream-messages.js';
import { attemptKey } from '../attempt/attempt.js';
import type { ChunkSender } from './chunk-sender.js';

/** The streams of a worker: of running attempts, and of ended ones until their end is acknowledged. */
export class ChunkSenders {
  private readonly senders = new Map<number, ChunkSender>();
  /** Senders with chunks to send. */
  private readonly ready = new Set<ChunkSender>();
  private readonly onReady: () => void;

  constructor(onReady: () => void) {
    this.onReady = onReady;
  }

  add(sender: ChunkSender): void {
    this.senders.set(attemptKey(sender.job, sender.attempt), sender);
    sender.onChunk = () => {
      this.ready.add(sender);
      this.onReady();
    };
  }

  remove(job: number, attempt: number): void {
    if (this.senders.size === 0) return;
    const key = attemptKey(job, attempt);
    const sender = this.senders.get(key);
    if (sender === undefined) return;
    this.senders.delete(key);
    this.ready.delete(sender);
  }

  clear(): void {
    this.senders.clear();
    this.ready.clear();
  }

  held(): HeldStream[] {
    return Array.from(this.senders.values(), ({ held }) => held);
  }

  opened(window: StreamWindow): void {
    this.senders.get(attemptKey(window.job, window.attempt))?.opened(window);
  }

  rewind(): void {
    for (const sender of this.senders.values()) {
      sender.rewind();
      this.ready.add(sender);
    }
  }

  take(): readonly StreamChunks[] {
    const all: StreamChunks[] = [];
    for (const sender of this.ready) {
      const chunks = sender.take();
      if (chunks !== undefined) all.push(chunks);
    }
    this.ready.clear();
    return all;
  }
}
