import { isFed } from '../../job/definition/job-policy.js';
import { identityOf } from '../../ledger/identity-usage.js';
import { FEED_ITEM_BYTES_MAX, type FeedMessage, type FeedRefusal } from '../../protocol/feed-messages.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import { RETRY_AFTER_MS } from '../submit/refusal.js';

/** Clients that have fed one job. */
const FEEDERS_MAX = 1_024;

type Context = LeaderParts<'diskRefusal' | 'ledger' | 'limits' | 'recordTime' | 'uncommitted'>;

export function feedRefusal(code: FeedRefusal['code'], problem: string, retryAfterMs = 0): FeedRefusal {
  return { code, problem, retryAfterMs };
}

export const FEED_ENDED: FeedRefusal = feedRefusal('ERR_FEED_ENDED', 'the job or its feed has ended');

/** A job that a session may feed, or why it may not. The order of the checks is part of the interface. */
export function feedableJob(
  { ledger, recordTime }: Pick<Context, 'ledger' | 'recordTime'>,
  session: ClientSession,
  no: number,
): { readonly job: LeaderJob; readonly refusal?: undefined } | { readonly refusal: FeedRefusal } {
  const job = ledger.jobs.get(no);
  if (job === undefined || ledger.isExpired(job, recordTime))
    return {
      refusal: feedRefusal('ERR_JOB_UNKNOWN', 'the job is unknown here, or its retention has passed'),
    };
  if (!session.permits('feed', job))
    return {
      refusal: feedRefusal(
        'ERR_FORBIDDEN',
        `this identity may not; it needs feed on job.feed.${job.policy.group}`,
      ),
    };
  if (isFed(job.policy)) return { job };
  const { streaming } = job.policy;
  const problem =
    streaming === undefined ? 'it was submitted without streaming' : 'its definition has no feed';
  return { refusal: feedRefusal('ERR_FEED_UNSUPPORTED', problem) };
}

/** Why a message has nothing to take, before its job is looked up. */
export function emptyProblem({ items, final }: FeedMessage): FeedRefusal | undefined {
  const isEmpty = items.length === 0 ? !final : items.some(({ length }) => length === 0);
  return isEmpty ? feedRefusal('ERR_FEED_EMPTY', 'an item without content that is not final') : undefined;
}

/** Why new items of a feed that is open cannot be taken. */
export function itemsProblem(
  context: Context,
  session: ClientSession,
  job: LeaderJob,
  { items }: FeedMessage,
  feeder: string,
): FeedRefusal | undefined {
  const feed = context.ledger.feeds.get(job.no);
  const large = items.find(({ length }) => length > FEED_ITEM_BYTES_MAX);
  if (large !== undefined)
    return feedRefusal(
      'ERR_PAYLOAD_TOO_LARGE',
      `item of ${large.length} bytes, at most ${FEED_ITEM_BYTES_MAX}`,
    );
  if (feed !== undefined && feed.feeders.size >= FEEDERS_MAX && !feed.feeders.has(feeder))
    return feedRefusal('ERR_QUEUE_FULL', `${FEEDERS_MAX} clients have fed this job`);
  const { diskRefusal } = context;
  if (diskRefusal !== undefined) return feedRefusal(diskRefusal.code, diskRefusal.problem, RETRY_AFTER_MS);
  return quotaProblem(context, session, job, bytesOf(items));
}

export function bytesOf(items: FeedMessage['items']): number {
  let bytes = 0;
  for (const { length } of items) bytes += length;
  return bytes;
}

function quotaProblem(
  { ledger, limits, uncommitted }: Context,
  session: ClientSession,
  { client }: LeaderJob,
  more: number,
): FeedRefusal | undefined {
  const bytes = ledger.liveBytes + uncommitted.bytes + more;
  if (bytes > limits.jobBytesMax)
    return feedRefusal('ERR_QUEUE_FULL', `payloads and feeds of ${bytes} bytes`, RETRY_AFTER_MS);
  if (session.identity === undefined) return undefined;
  // The feed counts as part of its job, so the owner of the job pays for it.
  const owner = identityOf(client);
  const own = ledger.usages.get(owner).jobBytes + uncommitted.loadOf(owner).bytes + more;
  if (own <= limits.jobBytesPerIdentityMax) return undefined;
  return feedRefusal(
    'ERR_QUEUE_FULL',
    `payloads and feeds of ${own} bytes of the job's identity`,
    RETRY_AFTER_MS,
  );
}
