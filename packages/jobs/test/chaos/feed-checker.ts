import { decodeRecords, payloadText } from '@troupe/jobs';
import { dumpWal } from '@troupe/wal';
import type { RoleProcess } from '../remote/role-process.js';
import { Fed } from '../remote/sample-jobs.js';

/** A fed job as the log holds it, folded without the code of the leader. */
interface LoggedFeed {
  /** In the order of the records. */
  readonly items: string[];
  /** The next number of each feeder. */
  readonly feeders: Map<string, number>;
  result: string[] | undefined;
}

/** Compares the items that clients know to be accepted with the log, and with the items that runners took. */
export class FeedChecker {
  readonly problems: string[] = [];
  private readonly accepted = new Map<string, string>();

  /** The events that a feeder printed: a line was printed after the answer it reports. */
  collect(feeder: RoleProcess): void {
    for (const event of feeder.events)
      if (event.kind === 'fed') this.accepted.set(String(event['item']), String(event['id']));
  }

  get acknowledged(): number {
    return this.accepted.size;
  }

  /** The log after all jobs have ended. Returns the number of fed jobs that are done. */
  async check(dir: string): Promise<number> {
    const feeds = await feedsInLog(dir);
    for (const [item, id] of this.accepted)
      if (feeds.get(id)?.items.includes(item) !== true)
        this.problems.push(`item ${item} of ${id} was accepted, and is not in the log`);
    let done = 0;
    for (const [id, { items, result }] of feeds) {
      if (new Set(items).size !== items.length) this.problems.push(`${id}: an item is in its feed twice`);
      if (result === undefined) continue;
      done += 1;
      // The runner that finished has taken every item once, and in the order of the log.
      if (result.join() !== items.join())
        this.problems.push(`${id}: took ${result.join()}, its feed is ${items.join()}`);
    }
    return done;
  }
}

async function feedsInLog(dir: string): Promise<Map<string, LoggedFeed>> {
  const feeds = new Map<string, LoggedFeed>();
  const policies = new Set<number>();
  let tag = '';
  const idOf = (job: number): string => `${tag}-${job.toString(36)}`;
  await dumpWal(dir, (entry) => {
    if (entry.kind !== 'record') return;
    decodeRecords(entry.payload, (record) => {
      if (record.type === 'genesis') tag = record.tag;
      else if (record.type === 'policy' && record.policy.exec === Fed.exec) policies.add(record.no);
      else if (record.type === 'enqueue' && policies.has(record.policy))
        feeds.set(idOf(record.job), { items: [], feeders: new Map(), result: undefined });
      else if (record.type === 'feed') {
        const feed = feeds.get(idOf(record.job));
        record.items.forEach((item, i) => {
          if (feed === undefined || record.first + i !== (feed.feeders.get(record.feeder) ?? 0)) return;
          feed.feeders.set(record.feeder, record.first + i + 1);
          feed.items.push(JSON.parse(payloadText(item)) as string);
        });
      } else if (record.type === 'ack') {
        const feed = feeds.get(idOf(record.job));
        if (feed !== undefined) feed.result = JSON.parse(payloadText(record.result)) as string[];
      }
    });
  });
  return feeds;
}
