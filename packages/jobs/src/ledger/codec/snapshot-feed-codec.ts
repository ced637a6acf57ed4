// Feeds in a snapshot. A long one is cut into parts, so that each fits into a chunk.

import type { ByteWriter } from '../../bytes/byte-writer.js';
import type { Payload } from '../../job/payload/payload.js';
import { LedgerCorruptError } from '../../jobs-error.js';
import type { FeedEnd } from '../../protocol/feed-messages.js';
import type { StoredFeed } from '../feeds/stored-feed.js';
import type { Ledger } from '../ledger.js';
import type { LedgerByteReader } from './ledger-byte-reader.js';

const PART_BYTES = 64 * 1024;

/** The form of a part, its first byte: with the fields of the feed, or items that follow an earlier part. */
const FIRST = 0;
const FURTHER = 1;
const ENDS = [undefined, 'final', 'abandoned'] as const satisfies readonly (FeedEnd | undefined)[];

interface FeedPart {
  readonly job: number;
  /** Undefined in a further part. */
  readonly feed: StoredFeed | undefined;
  readonly items: readonly Payload[];
}

export function* feedParts(feeds: ReadonlyMap<number, StoredFeed>): Generator<FeedPart> {
  for (const [job, feed] of feeds) {
    let part: Payload[] = [];
    let bytes = 0;
    let isFirst = true;
    for (const item of feed.kept()) {
      part.push(item);
      bytes += item.length;
      if (bytes < PART_BYTES) continue;
      yield { job, feed: isFirst ? feed : undefined, items: part };
      part = [];
      bytes = 0;
      isFirst = false;
    }
    if (isFirst || part.length > 0) yield { job, feed: isFirst ? feed : undefined, items: part };
  }
}

export function encodeFeedPart({ job, feed, items }: FeedPart, out: ByteWriter): void {
  out.byte(feed === undefined ? FURTHER : FIRST);
  out.int(job);
  if (feed !== undefined) {
    out.int(feed.base);
    out.int(feed.next);
    out.byte(ENDS.indexOf(feed.end));
    out.int(feed.feeders.size);
    for (const [feeder, next] of feed.feeders) {
      out.text(feeder);
      out.int(next);
    }
  }
  out.int(items.length);
  for (const item of items) out.payload(item);
}

export function decodeFeedPart(ledger: Ledger, read: LedgerByteReader): void {
  const form = read.byte();
  const feed = ledger.feedOf(read.int());
  let { next } = feed;
  if (form === FIRST) {
    feed.base = read.int();
    next = read.int();
    feed.end = ENDS[read.byte()];
    for (let left = read.int(); left > 0; left -= 1) feed.feeders.set(read.text(), read.int());
  } else if (form !== FURTHER) throw new LedgerCorruptError(`snapshot: feed form ${form} is unknown`);
  for (let left = read.int(); left > 0; left -= 1) feed.add(read.payload());
  feed.next = next;
}
