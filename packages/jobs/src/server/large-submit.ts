import type { IncomingBody } from '@troupe/transport';
import type { PayloadStore, PayloadWriter, StoredPayload } from '../job/stored-payload.js';
import { STORED_BYTES_MIN } from '../job/stored-payload.js';
import { LedgerCorruptError } from '../jobs-error.js';
import { ByteReader } from '../wire/byte-reader.js';
import { readSubmitHead, type SubmitHead } from '../wire/client-codec.js';
import { Gathering } from './frame-receiver.js';

/** Longer than any head: numbers, flags and a key. */
const HEAD_BYTES_MAX = 4 * 1024;

export interface LargeSubmitEnds {
  /** It is on the disk. */
  stored(head: SubmitHead, payload: StoredPayload, bytes: number): void;
  /** It was not one large submit; here it is as a whole. */
  whole(bytes: Buffer): void;
  /** The disk does not take it now. */
  refused(head: SubmitHead): void;
  /** The peer broke off. */
  broken(): void;
}

/**
 * A Submit frame in pieces. If it is one job with a large payload, the payload goes to the disk as it comes, and the peer may send
 * no faster than the disk takes it; anything else is put together in memory.
 */
export class LargeSubmit {
  private readonly incoming: IncomingBody;
  private readonly payloads: PayloadStore;
  private readonly ends: LargeSubmitEnds;
  private readonly gathered: Gathering;
  private head: SubmitHead | undefined = undefined;
  private writer: PayloadWriter | undefined = undefined;
  private isOrdinary = false;
  private isRefused = false;
  private failed = false;

  constructor(incoming: IncomingBody, payloads: PayloadStore, ends: LargeSubmitEnds) {
    this.incoming = incoming;
    this.payloads = payloads;
    this.ends = ends;
    this.gathered = new Gathering(HEAD_BYTES_MAX);
    incoming.read({
      onChunk: (chunk) => this.take(chunk),
      onEnd: () => this.end(),
      onFail: () => {
        this.writer?.abandon();
        ends.broken();
      },
    });
  }

  private take(chunk: Buffer): void {
    if (this.writer !== undefined) return this.write(this.writer, chunk, chunk.length);
    if (this.isRefused) return this.incoming.consumed(chunk.length);
    this.gathered.add(chunk);
    this.begin(this.gathered.bytes(), chunk.length);
    // With a writer the chunk counts when it is taken there.
    if (this.writer === undefined) this.incoming.consumed(chunk.length);
  }

  /** Decides as soon as the head is there. */
  private begin(sofar: Buffer, latest: number): void {
    if (this.isOrdinary) return;
    const head = headOf(sofar);
    if (head === undefined) {
      this.isOrdinary = sofar.length >= HEAD_BYTES_MAX;
      return;
    }
    const { length } = this.incoming;
    const fills = length === undefined || head.at + head.length === length;
    if (!fills || head.length < STORED_BYTES_MIN) {
      this.isOrdinary = true;
      return;
    }
    this.head = head;
    this.writer = this.payloads.write();
    if (this.writer === undefined) this.isRefused = true;
    else this.write(this.writer, sofar.subarray(head.at), latest);
  }

  private write(writer: PayloadWriter, chunk: Uint8Array, counted: number): void {
    writer.write(chunk, (error) => {
      if (error === null) this.incoming.consumed(counted);
      else this.fail();
    });
  }

  private fail(): void {
    if (this.failed) return;
    this.failed = true;
    this.incoming.stop();
  }

  private end(): void {
    const { head, writer } = this;
    if (head === undefined) return this.ends.whole(this.gathered.bytes());
    if (writer === undefined) return this.ends.refused(head);
    writer.finish((error, payload) => {
      if (error !== null) return this.ends.refused(head);
      if (payload.length === head.length) return this.ends.stored(head, payload, head.at + head.length);
      this.payloads.release(payload);
      this.ends.broken();
    });
  }
}

function headOf(sofar: Buffer): SubmitHead | undefined {
  try {
    return readSubmitHead(new ByteReader(sofar));
  } catch (error) {
    if (error instanceof LedgerCorruptError) return undefined;
    throw error;
  }
}
