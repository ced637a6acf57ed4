// Frames as a later version of the same protocol writes them: every message and every item has an optional field
// that this version does not know (docs/wire-protocol.md §12).
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { HAS_FIELDS } from '#src/bytes/optional-fields.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { readFailure } from '#src/wire/wire-fields.js';
import { WireReader } from '#src/wire/wire-reader.js';

/** Number, length and bytes of the field. */
const LATER_FIELD = fieldBytes(4_711, 'later');

/** Kinds of items of a stream. */
const [DATA, RESET, GAP, END] = [0, 1, 2, 3];

/** The frame with the field in it, as far as its layout has a place for one. */
export function laterFrame(type: number, body: Uint8Array): Uint8Array {
  const frame = new FrameCopy(body);
  switch (type) {
    case JobFrameType.ClientHello:
      return frame.offer().texts(2).fields().rest();
    case JobFrameType.WorkerHello:
      return frame.offer().texts(2).list().list().ints(3).texts(1).fields().rest();
    case JobFrameType.SessionWelcome:
      return frame.offer().texts(1).welcome().rest();
    case JobFrameType.SessionRefused:
      return frame.copy(1).texts(1).fields().rest();
    case JobFrameType.Submit:
      return frame.ints(1).items(() => frame.ints(2).submit());
    case JobFrameType.SubmitAll:
      return frame.ints(2).items(() => frame.ints(1).submit());
    case JobFrameType.Receipts:
      return frame.items(() => frame.receipt());
    case JobFrameType.Outcomes:
      return frame.items(() => frame.outcome());
    case JobFrameType.Assign:
      return frame.items(() => frame.assignment());
    case JobFrameType.Report:
      return frame
        .ints(2)
        .copy(8)
        .ints(3)
        .fields()
        .items(() => frame.end());
    case JobFrameType.Ends:
      return frame.items(() => frame.end());
    case JobFrameType.Chunks:
      return frame.items(() => frame.flagged(() => frame.ints(3)).list());
    case JobFrameType.ReadStream:
      return frame.ints(5).fields().rest();
    case JobFrameType.StopStream:
      return frame.ints(1).fields().rest();
    case JobFrameType.StreamConsumed:
      return frame.items(() => frame.flagged(() => frame.ints(3)));
    case JobFrameType.StreamWindows:
    case JobFrameType.FeedRequests:
      return frame.items(() => frame.flagged(() => frame.ints(4)));
    case JobFrameType.StreamItems:
      return frame
        .ints(1)
        .fields()
        .items(() => frame.streamItem());
    case JobFrameType.OpenFeed:
      return frame.flagged(() => frame.ints(2)).rest();
    case JobFrameType.Feed:
      return frame.flagged(() => frame.ints(3).list()).rest();
    case JobFrameType.CloseFeed:
      return frame.flagged(() => frame.ints(1)).rest();
    case JobFrameType.FeedStates:
      return frame.items(() =>
        frame.flagged((flags) => {
          frame.copy(1).ints(4);
          if ((flags & 2) !== 0) frame.texts(2).ints(1);
        }),
      );
    case JobFrameType.FedItems:
      return frame.items(() =>
        frame.flagged((flags) => {
          frame.ints(3).list();
          if ((flags & 1) !== 0) frame.copy(1);
        }),
      );
    default:
      return body;
  }
}

/** Copies a frame value by value. */
class FrameCopy {
  private readonly bytes: Uint8Array;
  private readonly from: WireReader;
  private readonly parts: Uint8Array[] = [];
  /** The part of the frame before it is copied. */
  private copied = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.from = new WireReader(bytes);
  }

  rest(): Uint8Array {
    this.parts.push(this.bytes.subarray(this.copied));
    return Buffer.concat(this.parts);
  }

  items(copyItem: () => unknown): Uint8Array {
    while (!this.from.done) copyItem();
    return this.rest();
  }

  ints(count: number): this {
    for (let left = count; left > 0; left -= 1) this.from.int();
    return this;
  }

  copy(bytes: number): this {
    for (let left = bytes; left > 0; left -= 1) this.from.byte();
    return this;
  }

  texts(count: number): this {
    for (let left = count; left > 0; left -= 1) this.from.bytes();
    return this;
  }

  offer(): this {
    return this.ints(1).list();
  }

  /** Texts or payloads behind their count. */
  list(): this {
    return this.texts(this.from.int());
  }

  /** The numbers of a welcome: a worker gets one, a client two. Only behind the last are optional fields. */
  welcome(): this {
    this.ints(1);
    const isLast = this.bytes.length - this.from.position === 1;
    return (isLast ? this : this.ints(1)).fields();
  }

  /** Flags, the values that they announce, and then the optional fields. */
  flagged(copyValues: (flags: number) => unknown): this {
    const flags = this.flags();
    copyValues(flags);
    return this.fieldsOf(flags);
  }

  streamItem(): this {
    const kind = this.from.byte();
    const flags = this.flags();
    if (kind === DATA) return this.ints(2).fieldsOf(flags).list();
    if (kind === RESET) this.ints(1);
    else if (kind === GAP) this.ints(3);
    else if (kind === END) this.copy(1).outcome();
    else this.copy(1).texts(1);
    return this.fieldsOf(flags);
  }

  /** A list of optional fields that is always there. */
  fields(): this {
    this.flush();
    this.addFields(true);
    return this;
  }

  /** Behind seq and ref: flags, key?, delayMs?, fields?, payload. */
  submit(): this {
    const flags = this.flags();
    if ((flags & 2) !== 0) this.texts(1);
    if ((flags & 4) !== 0) this.ints(1);
    return this.fieldsOf(flags).texts(1);
  }

  receipt(): this {
    this.ints(1);
    const flags = this.flags();
    this.ints(1).ints(this.from.int());
    if ((flags & 2) !== 0) this.texts(2).ints(1);
    return this.fieldsOf(flags);
  }

  outcome(): this {
    this.ints(1).copy(1);
    const flags = this.flags();
    if ((flags & 1) !== 0) this.texts(1);
    if ((flags & 2) !== 0) this.texts(1);
    if ((flags & 4) !== 0) readFailure(this.from);
    return this.fieldsOf(flags);
  }

  assignment(): this {
    const flags = this.flags();
    this.ints(2);
    if ((flags & 1) === 0) this.texts(2).ints(2);
    return this.fieldsOf(flags).texts(1);
  }

  end(): this {
    this.copy(1);
    const flags = this.flags();
    this.ints(2);
    if ((flags & 1) !== 0) this.texts(1);
    if ((flags & 2) !== 0) readFailure(this.from);
    return this.fieldsOf(flags);
  }

  /** A byte of flags, which says in the copy that fields follow. Returns those of this version. */
  private flags(): number {
    this.flush();
    const flags = this.from.byte();
    this.parts.push(Uint8Array.of(flags | HAS_FIELDS));
    this.copied = this.from.position;
    return flags;
  }

  private fieldsOf(flags: number): this {
    this.flush();
    this.addFields((flags & HAS_FIELDS) !== 0);
    return this;
  }

  private addFields(areThere: boolean): void {
    const known = areThere ? this.from.bytes() : new Uint8Array(0);
    const out = new ByteWriter();
    out.payload(Buffer.concat([known, LATER_FIELD]));
    this.parts.push(Buffer.from(out.take()));
    this.copied = this.from.position;
  }

  private flush(): void {
    this.parts.push(this.bytes.subarray(this.copied, this.from.position));
    this.copied = this.from.position;
  }
}

function fieldBytes(number: number, text: string): Uint8Array {
  const out = new ByteWriter();
  out.int(number);
  out.text(text);
  return out.take();
}
