import { type Client, defineJob, handle } from '@troupe/jobs';
import { anyValue, digest } from '../jobs/job-definitions.js';
import { type Payload, type Result, resultOf } from '../jobs/payload.js';
import { PayloadSource } from '../jobs/payload-source.js';
import {
  cpuMicros,
  type EmbeddedSetup,
  openEmbedded,
  PAYLOAD_BYTES,
} from '../jobs-embedded/embedded-setup.js';

/** With 100 keys each, these are 10,000 order keys. */
const TENANTS = 100;
const KEYS_EACH = 100;
const PRIORITIES = 10;
/** One job for each key of a tenant. */
const BATCH = KEYS_EACH;
/** Submits at once. */
const CALLS = 40;
const SLOTS = 64;

/** The order of a backlog: all features at once, or none. */
export type BacklogOrder = 'ordered' | 'fifo';

const keyOf = ({ id }: Payload): string => `key-${id % KEYS_EACH}`;
export const ordered = defineJob('bench.ordered', {
  input: anyValue<Payload>(),
  output: anyValue<Result>(),
  orderKey: keyOf,
});

/** The time of jobs that were in the queue before, from its opening to their handlers. */
export interface Drained {
  readonly seconds: number;
  readonly cpuMicros: number;
}

/** A queue of a given size, which is closed while it is filled. */
export class OrderedBacklog {
  readonly setup: EmbeddedSetup;
  readonly order: BacklogOrder;
  private readonly clients: readonly Client[];
  private readonly payloads = new PayloadSource(PAYLOAD_BYTES);
  private batches = 0;
  private queued = 0;
  private handled = 0;
  private wanted = Number.POSITIVE_INFINITY;
  private done: () => void = () => undefined;

  private constructor(setup: EmbeddedSetup, order: BacklogOrder) {
    this.setup = setup;
    this.order = order;
    const count = order === 'ordered' ? TENANTS : 1;
    // Without keys of a network a tenant is the name of a client.
    this.clients = Array.from({ length: count }, (_, i) => setup.app.client({ name: `tenant-${i}` }));
  }

  static async open(order: BacklogOrder): Promise<OrderedBacklog> {
    return new OrderedBacklog(await openEmbedded(0), order);
  }

  /** Submits as many jobs as are missing; returns the first and the last one's id. */
  async fillTo(jobs: number): Promise<readonly string[]> {
    const ids: string[] = [];
    while (this.queued < jobs) {
      const calls = Math.min(CALLS, Math.ceil((jobs - this.queued) / BATCH));
      const handles = (await Promise.all(Array.from({ length: calls }, () => this.submitBatch()))).flat();
      for (const one of [handles[0], handles.at(-1)]) if (one !== undefined) ids.push(one.id);
    }
    return ids;
  }

  startWorker(): void {
    const handler = (payload: Payload): Result => {
      this.handled += 1;
      if (this.handled === this.wanted) this.done();
      return resultOf(payload);
    };
    this.setup.app.worker({ slots: SLOTS, handlers: [handle(ordered, handler), handle(digest, handler)] });
  }

  pause(): Promise<unknown> {
    return this.setup.client.queue('*').pause();
  }

  /** Opens the queue until so many jobs have been handled. */
  async drain(jobs: number): Promise<Drained> {
    const done = new Promise<void>((resolve) => {
      this.done = resolve;
    });
    this.wanted = this.handled + jobs;
    const [startedAt, cpuBefore] = [performance.now(), cpuMicros()];
    await this.setup.client.queue('*').resume();
    await done;
    const drained = { seconds: (performance.now() - startedAt) / 1_000, cpuMicros: cpuMicros() - cpuBefore };
    await this.pause();
    for (;;) {
      const { counts } = await this.setup.client.overview();
      this.queued = counts.queued;
      if (counts.running === 0) return drained;
    }
  }

  private submitBatch() {
    const number = this.batches;
    this.batches += 1;
    this.queued += BATCH;
    const inputs = Array.from({ length: BATCH }, () => this.payloads.next());
    const client = this.clients[number % this.clients.length] as Client;
    if (this.order === 'fifo') return client.submitAll(digest, inputs);
    // Another priority each time that the tenants have had their turn.
    return client.submitAll(ordered, inputs, { priority: Math.floor(number / TENANTS) % PRIORITIES });
  }
}
