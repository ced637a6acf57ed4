import type { BodySource } from '@troupe/transport';
import type { PayloadStore } from '../../job/stored-payload.js';
import { StoredPayload } from '../../job/stored-payload.js';
import type { LostPayload } from '../../protocol/leader-interface.js';
import type { Assignment, ToWorker } from '../../protocol/worker-messages.js';
import type { WorkerPort } from './worker-session.js';

export type PayloadLost = (lost: LostPayload) => void;

const PIECE_BYTES = 1024 * 1024;

/** In front of a worker that takes payloads whole: reads those that are on the disk, and keeps the order of what it is told. */
export class InlinePayloadPort implements WorkerPort {
  readonly access: WorkerPort['access'];
  private readonly port: WorkerPort;
  private readonly payloads: PayloadStore;
  private readonly lost: PayloadLost;
  private readonly waiting: ToWorker[] = [];
  private isReading = false;

  constructor(port: WorkerPort, payloads: PayloadStore, lost: PayloadLost) {
    this.access = port.access;
    this.port = port;
    this.payloads = payloads;
    this.lost = lost;
  }

  write(message: ToWorker): void {
    if (this.isReading) this.waiting.push(message);
    else if (isWhole(message)) this.port.write(message);
    else this.load(message.items, [], 0);
  }

  private load(items: readonly Assignment[], whole: Assignment[], from: number): void {
    this.isReading = true;
    for (let i = from; i < items.length; i += 1) {
      const item = items[i] as Assignment;
      if (item.payload instanceof StoredPayload) return this.loadOne(item, items, whole, i);
      whole.push(item);
    }
    if (whole.length > 0) this.port.write({ kind: 'assign', items: whole });
    this.isReading = false;
    while (this.waiting.length > 0 && !this.isReading) this.write(this.waiting.shift() as ToWorker);
  }

  private loadOne(item: Assignment, items: readonly Assignment[], whole: Assignment[], at: number): void {
    readWhole(this.payloads.open(item.payload as StoredPayload), (error, payload) => {
      if (error === null) whole.push({ ...item, payload });
      else this.lost({ job: item.job, attempt: item.attempt, problem: error.message });
      this.load(items, whole, at + 1);
    });
  }
}

function isWhole(message: ToWorker): message is Exclude<ToWorker, { readonly kind: 'assign' }> {
  return message.kind !== 'assign' || !message.items.some(({ payload }) => payload instanceof StoredPayload);
}

function readWhole(source: BodySource, done: (error: Error | null, bytes: Uint8Array) => void): void {
  const whole = Buffer.allocUnsafeSlow(source.length ?? 0);
  let at = 0;
  const next = (): void =>
    source.read(PIECE_BYTES, (error, chunk) => {
      if (chunk === null) {
        source.close();
        return done(error, whole);
      }
      whole.set(chunk, at);
      at += chunk.length;
      source.release?.(chunk);
      next();
    });
  next();
}
