import type { IncomingBody } from '@troupe/transport';
import type { PayloadStore, PayloadWriter } from '../../job/payload/payload-store.js';
import type { StoredPayload } from '../../job/payload/stored-payload.js';
import { STORED_BYTES_MIN } from '../../job/payload/stored-payload.js';
import { MessageMalformedError } from '../../jobs-error.js';
import { readSubmitHead, SUBMIT_HEAD_BYTES_MAX, type SubmitHead } from '../../wire/client/client-codec.js';
import { WireReader } from '../../wire/wire-reader.js';

export interface SubmitSpoolerEvents {
  /** The payload is on the disk. */
  stored(head: SubmitHead, payload: StoredPayload, bytes: number): void;
  /** It was not one large submit; here is the whole body. */
  whole(bytes: Buffer): void;
  /** It is not one large submit; here is its beginning, and the rest is to be read. */
  gather(received: Buffer): void;
  /** The disk takes no payload now. */
  refused(head: SubmitHead): void;
  malformed(): void;
  /** The peer ended the body early. */
  broken(): void;
}

/**
 * Receives a Submit frame in pieces. The payload of a single large job goes to the disk as it arrives, and
 * the peer may send no faster than the disk takes it; any other body is put together in memory.
 */
export class SubmitSpooler {
  private readonly incoming: IncomingBody;
  private readonly payloads: PayloadStore;
  private readonly events: SubmitSpoolerEvents;
  private beginning: Buffer = Buffer.alloc(0);
  private head: SubmitHead | undefined = undefined;
  private writer: PayloadWriter | undefined = undefined;
  private hasFailed = false;

  constructor(incoming: IncomingBody, payloads: PayloadStore, events: SubmitSpoolerEvents) {
    this.incoming = incoming;
    this.payloads = payloads;
    this.events = events;
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
    const isWhole = this.head === undefined && this.begin(chunk);
    // With a writer, the chunk counts when it is written.
    if (this.writer === undefined) this.incoming.consumed(chunk.length);
    if (isWhole) this.events.gather(this.beginning);
  }

  /** True where the head is here and is not that of one large submit. */
  private begin(chunk: Buffer): boolean {
    this.beginning = Buffer.concat([this.beginning, chunk]);
    if (this.beginning.length < SUBMIT_HEAD_BYTES_MAX) return false;
    const head = this.readHead(this.beginning);
    if (head === undefined) return true;
    this.head = head;
    this.writer = this.payloads.write();
    if (this.writer !== undefined) this.store(this.writer, this.beginning.subarray(head.at), chunk.length);
    return false;
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
    if (head === undefined) return this.events.whole(this.beginning);
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
