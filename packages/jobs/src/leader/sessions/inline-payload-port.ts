import type { BodySource } from '@troupe/transport';
import type { PayloadStore } from '../../job/payload-store.js';
import { StoredPayload } from '../../job/stored-payload.js';
import type { LostPayload } from '../../protocol/leader-interface.js';
import type { Assignment, ToWorker } from '../../protocol/worker-messages.js';
import type { WorkerPort } from './worker-session.js';

export type PayloadLost = (lost: LostPayload) => void;

const CHUNK_BYTES = 1024 * 1024;

/**
 * A port to a worker that takes payloads whole: loads stored payloads from the disk, and keeps the order of
 * messages.
 */
export class InlinePayloadPort implements WorkerPort {
  readonly access: WorkerPort['access'];
  readonly creditMax: WorkerPort['creditMax'];
  private readonly port: WorkerPort;
  private readonly payloads: PayloadStore;
  private readonly onLost: PayloadLost;
  private readonly waiting: ToWorker[] = [];
  private isLoading = false;

  constructor(port: WorkerPort, payloads: PayloadStore, onLost: PayloadLost) {
    this.access = port.access;
    this.creditMax = port.creditMax;
    this.port = port;
    this.payloads = payloads;
    this.onLost = onLost;
  }

  write(message: ToWorker): void {
    if (this.isLoading) this.waiting.push(message);
    else if (isInline(message)) this.port.write(message);
    else this.load(message.items, [], 0);
  }

  private load(items: readonly Assignment[], loaded: Assignment[], from: number): void {
    this.isLoading = true;
    for (let i = from; i < items.length; i += 1) {
      const item = items[i] as Assignment;
      if (item.payload instanceof StoredPayload) return this.loadOne(item, items, loaded, i);
      loaded.push(item);
    }
    if (loaded.length > 0) this.port.write({ kind: 'assign', items: loaded });
    this.isLoading = false;
    while (this.waiting.length > 0 && !this.isLoading) this.write(this.waiting.shift() as ToWorker);
  }

  private loadOne(item: Assignment, items: readonly Assignment[], loaded: Assignment[], at: number): void {
    readAll(this.payloads.open(item.payload as StoredPayload), (error, payload) => {
      if (error === null) loaded.push({ ...item, payload });
      else this.onLost({ job: item.job, attempt: item.attempt, problem: error.message });
      this.load(items, loaded, at + 1);
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
