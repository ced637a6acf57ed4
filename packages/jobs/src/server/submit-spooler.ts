import type { IncomingBody } from '@troupe/transport';
import type { PayloadStore, PayloadWriter } from '../job/payload-store.js';
import type { StoredPayload } from '../job/stored-payload.js';
import { STORED_BYTES_MIN } from '../job/stored-payload.js';
import { MessageMalformedError } from '../jobs-error.js';
import { BodyCollector } from '../wire/body-collector.js';
import { readSubmitHead, SUBMIT_HEAD_BYTES_MAX, type SubmitHead } from '../wire/client-codec.js';
import { WireReader } from '../wire/wire-reader.js';

export interface SubmitSpoolerEvents {
  /** The payload is on the disk. */
  stored(head: SubmitHead, payload: StoredPayload, bytes: number): void;
  /** It was not one large submit; here is the whole body. */
  whole(bytes: Buffer): void;
  /** The disk takes no payload now. */
  refused(head: SubmitHead): void;
  malformed(): void;
  /** The peer ended the body early. */
  broken(): void;
}

/**
 * Receives a Submit frame in pieces. The payload of a single large job goes to the disk as it arrives, and
 * the peer may send no faster than the disk takes it; any other body is collected in memory.
 */
export class SubmitSpooler {
  private readonly incoming: IncomingBody;
  private readonly payloads: PayloadStore;
  private readonly events: SubmitSpoolerEvents;
  private readonly collected: BodyCollector;
  private head: SubmitHead | undefined = undefined;
  private writer: PayloadWriter | undefined = undefined;
  private isDecided = false;
  private hasFailed = false;

  constructor(incoming: IncomingBody, payloads: PayloadStore, events: SubmitSpoolerEvents) {
    this.incoming = incoming;
    this.payloads = payloads;
    this.events = events;
    this.collected = new BodyCollector(SUBMIT_HEAD_BYTES_MAX);
    incoming.read({
      onChunk: (chunk) => this.receive(chunk),
      onEnd: () => this.end(),
      onFail: () => {
        this.writer?.abandon();
        events.broken();
      },
    });
  }

  private receive(chunk: Buffer): void {
    if (this.hasFailed) return this.incoming.consumed(chunk.length);
    if (this.writer !== undefined) return this.store(this.writer, chunk, chunk.length);
    // Without a writer, the bytes behind a head were refused.
    if (this.head === undefined) this.collect(chunk);
    // With a writer, the chunk counts when it is written.
    if (this.writer === undefined) this.incoming.consumed(chunk.length);
  }

  private collect(chunk: Buffer): void {
    this.collected.add(chunk);
    const bytes = this.collected.bytes();
    if (this.isDecided || bytes.length < SUBMIT_HEAD_BYTES_MAX) return;
    this.isDecided = true;
    const head = this.readHead(bytes);
    if (head === undefined) return;
    this.head = head;
    this.writer = this.payloads.write();
    if (this.writer !== undefined) this.store(this.writer, bytes.subarray(head.at), chunk.length);
  }

  /** Undefined unless the body is one job with a large payload. */
  private readHead(bytes: Buffer): SubmitHead | undefined {
    let head: SubmitHead | undefined;
    try {
      head = readSubmitHead(new WireReader(bytes));
    } catch (error) {
      if (!(error instanceof MessageMalformedError)) throw error;
      this.events.malformed();
    }
    if (head === undefined || head.length < STORED_BYTES_MIN) return undefined;
    const { length } = this.incoming;
    return length === undefined || head.at + head.length === length ? head : undefined;
  }

  private store(writer: PayloadWriter, chunk: Uint8Array, counted: number): void {
    writer.write(chunk, (error) => {
      // After an error the rest is read and dropped: a full disk refuses this submit and ends no connection.
      this.hasFailed ||= error !== null;
      this.incoming.consumed(counted);
    });
  }

  private end(): void {
    const { head, writer } = this;
    if (head === undefined) return this.events.whole(this.collected.bytes());
    if (writer === undefined) return this.events.refused(head);
    if (this.hasFailed) {
      writer.abandon();
      return this.events.refused(head);
    }
    writer.finish((error, payload) => {
      if (error !== null) return this.events.refused(head);
      if (payload.length === head.length) return this.events.stored(head, payload, head.at + head.length);
      this.payloads.release(payload);
      this.events.broken();
    });
  }
}
