import type { ClientMessage } from '../../protocol/client/client-messages.js';
import type { ReadStream, StreamConsumed, StreamItems } from '../../protocol/stream-messages.js';
import type { ClientEffects } from './client-effects.js';
import { ReaderProgress } from './reader-progress.js';

/** The readers of a client. Each knows its place, so that a new session goes on where the last one ended. */
export class StreamReaders {
  private readonly readers = new Map<number, ReaderProgress>();
  private readonly write: (message: ClientMessage) => void;
  private readonly effects: Pick<ClientEffects, 'streamed'>;
  /** Before the first session the request waits for the welcome. */
  private canStream = true;

  constructor(write: (message: ClientMessage) => void, effects: Pick<ClientEffects, 'streamed'>) {
    this.write = write;
    this.effects = effects;
  }

  read(request: ReadStream): void {
    this.readers.set(request.reader, new ReaderProgress(request));
    this.request(request);
  }

  consumed(position: StreamConsumed): void {
    const reader = this.readers.get(position.reader);
    if (reader === undefined) return;
    reader.consume(position);
    this.write({ kind: 'stream_consumed', items: [position] });
  }

  stop(reader: number): void {
    if (this.readers.delete(reader)) this.write({ kind: 'stop_stream', reader });
  }

  received({ reader, items }: StreamItems): void {
    const fresh = this.readers.get(reader)?.take(items) ?? [];
    const last = fresh.at(-1);
    if (last === undefined) return;
    if (last.kind === 'end' || last.kind === 'refused') this.readers.delete(reader);
    this.effects.streamed(reader, fresh);
  }

  /** A new session: the leader has lost its readers with the last one. */
  welcomed({ canStream }: { readonly canStream: boolean }): void {
    this.canStream = canStream;
    for (const { renewal } of [...this.readers.values()]) this.request(renewal);
  }

  clear(): void {
    this.readers.clear();
  }

  private request(request: ReadStream): void {
    if (this.canStream) return this.write({ kind: 'read_stream', ...request });
    const problem = 'the leader is of a version without streams';
    this.received({
      reader: request.reader,
      items: [{ kind: 'refused', status: 'FAILED_PRECONDITION', problem }],
    });
  }
}
