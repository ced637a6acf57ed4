import type { Delivered } from '@troupe/core';
import type { BodySource } from '@troupe/transport';
import type { PayloadStore } from '../../job/payload/payload-store.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import type { LostPayload } from '../../protocol/leader-interface.js';
import type { Assignment, ToWorker } from '../../protocol/worker/worker-messages.js';
import type { WorkerPort } from './worker-session.js';

export interface InlinePayloadEvents {
  /** The payload of an attempt cannot be read. */
  onLost(lost: LostPayload): void;
  /** It was full while it read, and is not any more. */
  onWritable(): void;
}

const CHUNK_BYTES = 1024 * 1024;

/**
 * A port to a worker that takes payloads whole: loads stored payloads from the disk. It is full while it
 * reads, which keeps the order of messages.
 */
export class InlinePayloadPort implements WorkerPort {
  readonly access: WorkerPort['access'];
  readonly creditMax: WorkerPort['creditMax'];
  private readonly port: WorkerPort;
  private readonly payloads: PayloadStore;
  private readonly events: InlinePayloadEvents;
  private isLoading = false;
  /** Loaded assignments that wait for room. */
  private loaded: Assignment[] = [];

  constructor(port: WorkerPort, payloads: PayloadStore, events: InlinePayloadEvents) {
    this.access = port.access;
    this.creditMax = port.creditMax;
    this.port = port;
    this.payloads = payloads;
    this.events = events;
  }

  offer(message: ToWorker): Delivered {
    if (this.isLoading || this.offerLoaded() === 'full') return 'full';
    if (isInline(message)) return this.port.offer(message);
    this.load(message.items, 0);
    return 'accepted';
  }

  endSlowReader(): void {
    this.port.endSlowReader?.();
  }

  private offerLoaded(): Delivered {
    const { loaded } = this;
    if (loaded.length === 0) return 'accepted';
    const delivered = this.port.offer({ kind: 'assign', items: loaded });
    if (delivered !== 'full') this.loaded = [];
    return delivered;
  }

  private load(items: readonly Assignment[], from: number): void {
    this.isLoading = true;
    for (let i = from; i < items.length; i += 1) {
      const item = items[i] as Assignment;
      if (item.payload instanceof StoredPayload) return this.loadOne(item, items, i);
      this.loaded.push(item);
    }
    this.isLoading = false;
    if (this.offerLoaded() !== 'full') this.events.onWritable();
  }

  private loadOne(item: Assignment, items: readonly Assignment[], at: number): void {
    readAll(this.payloads.open(item.payload as StoredPayload), (error, payload) => {
      if (error === null) this.loaded.push({ ...item, payload });
      else this.events.onLost({ job: item.job, attempt: item.attempt, problem: error.message });
      this.load(items, at + 1);
    });
  }
}

function isInline(message: ToWorker): message is Exclude<ToWorker, { readonly kind: 'assign' }> {
  return message.kind !== 'assign' || !message.items.some(({ payload }) => payload instanceof StoredPayload);
}

function readAll(source: BodySource, done: (error: Error | null, bytes: Uint8Array) => void): void {
  const bytes = Buffer.allocUnsafeSlow(source.length ?? 0);
  let at = 0;
  const next = (): void =>
    source.read(CHUNK_BYTES, (error, chunk) => {
      if (chunk === null) {
        source.close();
        return done(error, bytes);
      }
      bytes.set(chunk, at);
      at += chunk.length;
      source.release?.(chunk);
      next();
    });
  next();
}
