import { payloadHash } from '../../job/payload/payload.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import { tagsProblem } from '../../job/tags-problem.js';
import type { RefusalCode } from '../../jobs-error.js';
import { windowKey } from '../../ledger/key-window.js';
import { YEAR_MS } from '../../option-check.js';
import type { Refusal, SubmitItem } from '../../protocol/client/client-messages.js';
import type { LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import { drainingQueue } from './draining-queue.js';
import { deadQuotaProblem, jobQuotaProblem, keyQuotaProblem } from './identity-quota.js';
import { RETRY_AFTER_MS, refusal } from './refusal.js';
import type { IdentityLoad } from './uncommitted-jobs.js';

const KEY_BYTES_MAX = 512;

/** `key` is empty where there is none. 'wait': the same key is in an uncommitted job. */
export type Admission =
  | Admitted
  | { readonly verdict: 'wait' }
  | { readonly verdict: 'refuse'; readonly refusal: Refusal };

export type Admitted =
  | { readonly verdict: 'accept'; readonly key: string }
  | { readonly verdict: 'duplicate'; readonly key: string; readonly job: number };

/** Jobs that are staged and not in the ledger yet. */
interface UncommittedLoad {
  readonly jobs: number;
  readonly bytes: number;
  readonly keys: ReadonlySet<string>;
}

const ACCEPT: Admission = { verdict: 'accept', key: '' };
const WAIT: Admission = { verdict: 'wait' };

/**
 * Validates one submit. `own`: the uncommitted jobs of its identity, where there are keys. Pure: a refused
 * submit has changed nothing, so it may be sent again.
 */
export function admit(
  context: LeaderParts<'diskRefusal' | 'draining' | 'ledger' | 'limits' | 'recordBytesMax' | 'recordTime'>,
  uncommitted: UncommittedLoad,
  own: IdentityLoad | undefined,
  session: ClientSession,
  item: SubmitItem,
): Admission {
  const { limits, ledger } = context;
  const problem = itemProblem(item);
  if (problem !== undefined) return refuse('ERR_MESSAGE_MALFORMED', problem, 0);
  const policy = session.policies.get(item.ref);
  if (policy === undefined) {
    const refused = session.refusedDefinitions.get(item.ref);
    if (refused !== undefined) return { verdict: 'refuse', refusal: refused };
    return refuse('ERR_EXEC_UNKNOWN', `no job definition was announced as ${item.ref}`, 0);
  }
  if (item.payload.length > limits.payloadBytesMax) {
    const size = `payload of ${item.payload.length} bytes, at most ${limits.payloadBytesMax}`;
    return refuse('ERR_PAYLOAD_TOO_LARGE', size, 0);
  }
  const { recordBytesMax } = context;
  if (item.payload.length > recordBytesMax && !(item.payload instanceof StoredPayload)) {
    const size = `payload of ${item.payload.length} bytes, at most ${recordBytesMax} where it is not streamed`;
    return refuse('ERR_PAYLOAD_TOO_LARGE', size, 0);
  }
  const key = item.key === '' ? '' : windowKey(session.client, policy.exec, item.key);
  if (key !== '') {
    const known = checkKey(context, uncommitted, key, item);
    if (known !== undefined) return known;
  }
  const { identity } = session;
  if (context.draining) return refuse('ERR_LEADER_DRAINING', 'the leader is shutting down', RETRY_AFTER_MS);
  const draining = drainingQueue(context, policy);
  if (draining !== undefined)
    return refuse('ERR_QUEUE_DRAINING', `an operator drains queue ${draining}`, RETRY_AFTER_MS);
  const { diskRefusal } = context;
  if (diskRefusal !== undefined) return refuse(diskRefusal.code, diskRefusal.problem, RETRY_AFTER_MS);
  const live = ledger.counts.queued + ledger.counts.running + uncommitted.jobs;
  if (live >= limits.jobsMax)
    return refuse('ERR_QUEUE_FULL', `${live} jobs are waiting or running`, RETRY_AFTER_MS);
  const bytes = ledger.liveBytes + uncommitted.bytes + item.payload.length;
  if (bytes > limits.jobBytesMax)
    return refuse('ERR_QUEUE_FULL', `payloads of ${bytes} bytes`, RETRY_AFTER_MS);
  const beyond =
    deadQuotaProblem(context, identity, policy.exec) ??
    (identity === undefined || own === undefined
      ? undefined
      : (jobQuotaProblem(context, identity, own, item.payload.length) ??
        (key === '' ? undefined : keyQuotaProblem(context, identity, own))));
  if (beyond !== undefined) return { verdict: 'refuse', refusal: beyond };
  return key === '' ? ACCEPT : { verdict: 'accept', key };
}

function checkKey(
  context: LeaderParts<'diskRefusal' | 'draining' | 'ledger' | 'limits' | 'recordBytesMax' | 'recordTime'>,
  uncommitted: UncommittedLoad,
  key: string,
  item: SubmitItem,
): Admission | undefined {
  if (uncommitted.keys.has(key)) return WAIT;
  const entry = context.ledger.keys.get(key);
  if (entry !== undefined && entry.expiresAt > context.recordTime) {
    if (entry.hash === payloadHash('', item.payload)) return { verdict: 'duplicate', key, job: entry.job };
    return refuse('ERR_KEY_CONFLICT', `key '${item.key}' belongs to a job with another payload`, 0);
  }
  const keys = context.ledger.keys.size + uncommitted.keys.size;
  if (keys < context.limits.keysMax) return undefined;
  return refuse(
    'ERR_KEY_WINDOW_FULL',
    `${keys} idempotency keys are remembered, no room for another`,
    RETRY_AFTER_MS,
  );
}

function itemProblem(item: SubmitItem): string | undefined {
  if (!Number.isSafeInteger(item.seq) || item.seq < 1) return 'the submit has no valid number';
  if (!isPayload(item.payload)) return 'the payload is not bytes';
  if (typeof item.key !== 'string' || item.key.length > KEY_BYTES_MAX) {
    return `the key is not a text of at most ${KEY_BYTES_MAX} characters`;
  }
  const { orderKey } = item;
  if (orderKey !== undefined && (typeof orderKey !== 'string' || !isKeyLength(orderKey.length)))
    return `the order key is not a text of 1 to ${KEY_BYTES_MAX} characters`;
  const { tags, runAt = 0 } = item;
  const badTags = tags === undefined ? undefined : tagsProblem(tags);
  if (badTags !== undefined) return badTags;
  if (!Number.isFinite(runAt)) return 'the instant of its run is no number';
  const delay = item.delayMs;
  if (!(delay >= 0 && delay <= YEAR_MS)) return `a delay of ${delay} ms, 0 to ${YEAR_MS} are allowed`;
  return undefined;
}

function isKeyLength(length: number): boolean {
  return length >= 1 && length <= KEY_BYTES_MAX;
}

function isPayload(value: unknown): boolean {
  return typeof value === 'string' || value instanceof Uint8Array || value instanceof StoredPayload;
}

function refuse(code: RefusalCode, problem: string, retryAfterMs: number): Admission {
  return { verdict: 'refuse', refusal: refusal(code, problem, retryAfterMs) };
}
