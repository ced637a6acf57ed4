import type { JobExplanation, WaitReason } from '@troupe/jobs';
import { durationText } from '../../input/option-parsers.js';

/** Why a job does not run, one line for each reason. */
export function explanationLines(
  id: string,
  { state, detail, reasons, estimateMs }: JobExplanation,
  idOf: (job: number) => string,
): string[] {
  if (state !== 'queued') {
    const see = state === 'dead' ? '; see troupe dlq show' : '';
    return [`${id} is ${state}${detail === '' ? '' : `: ${detail}`}${see}`];
  }
  if (reasons.length === 0) return [`${id} is next: nothing holds it up`];
  const estimate =
    estimateMs === undefined ? noEstimateText(reasons) : `begins in about ${timeText(estimateMs)}`;
  return [`${id} waits:`, ...reasons.map((reason) => `- ${reasonText(reason, idOf)}`), estimate];
}

function noEstimateText(reasons: readonly WaitReason[]): string {
  const kinds = reasons.map(({ kind }) => kind);
  if (kinds.includes('leader-draining')) return 'no estimate: the next leader runs it';
  if (kinds.includes('paused')) return 'no estimate while its queue is paused';
  if (kinds.includes('no-worker')) return 'no estimate while no worker serves it';
  return 'no estimate: no job of its queue has begun lately';
}

export function reasonText(reason: WaitReason, idOf: (job: number) => string): string {
  switch (reason.kind) {
    case 'delayed':
      return `it is due in ${timeText(reason.leftMs)}, at ${new Date(reason.dueAt).toISOString()}`;
    case 'paused':
      return `${queueText(reason.queue)} paused since ${new Date(reason.since).toISOString()} by ${reason.by}; see troupe queue resume`;
    case 'running-max':
      return `queue ${reason.queue} runs ${reason.running} of at most ${reason.max} attempts`;
    case 'rate':
      return `the rate of ${reason.of === 'key' ? 'its order key' : `queue ${reason.queue}`} is used up (${reason.rate.jobs} in ${durationText(reason.rate.perMs)}); ${reason.of === 'key' ? 'its start' : 'the next start'} is in ${timeText(reason.leftMs)}`;
    case 'order-key':
      return `order key ${reason.orderKey} is busy with ${reason.holders.map(idOf).join(', ')} (at most ${reason.max}), ${reason.ahead} ${reason.ahead === 1 ? 'waits' : 'wait'} before it`;
    case 'tenant-max':
      return `tenant ${reason.tenant} runs ${reason.running} of at most ${reason.max} attempts`;
    case 'ahead':
      return aheadText(reason);
    case 'no-worker':
      return noWorkerText(reason);
    case 'no-credit':
      return noCreditText(reason);
    case 'leader-draining':
      return 'the leader is shutting down';
    case 'being-written':
      return 'a record about it is on its way to the disk';
    default:
      return laterText(reason);
  }
}

/** A leader of a later version may have further reasons. */
function laterText(reason: never): string {
  return JSON.stringify(reason);
}

function aheadText({
  ofTenant,
  ofOthers,
  ofHigherPriority,
  priority,
  level,
}: WaitReason & { kind: 'ahead' }): string {
  const ahead = `${ofTenant} of its tenant, ${ofOthers} of others, ${ofHigherPriority} of higher priority`;
  return `jobs that begin before it: ${ahead}; its own priority is ${priority}, ${level} with its age`;
}

function noWorkerText(reason: WaitReason & { kind: 'no-worker' }): string {
  const { workers, serveExec, quiet, requires, feature } = reason;
  const needs = [...requires.map((label) => `label ${label}`), ...(feature === '' ? [] : [feature])];
  const why = needs.length === 0 ? '' : ` with ${needs.join(', ')}`;
  if (workers === 0) return `no worker${why} is connected; see troupe worker`;
  const connected = `${workers} connected, ${serveExec} of them with its handler`;
  return quiet > 0
    ? `no worker may take it${why}: ${connected}, ${quiet} made quiet by an operator; see troupe workers resume`
    : `no worker serves it${why}: ${connected}; see troupe worker`;
}

function noCreditText({ eligible, running, slots, runner }: WaitReason & { kind: 'no-credit' }): string {
  if (runner !== undefined)
    return `all instances of its warm runner ${runner} are taken, at ${workersText(eligible)}`;
  const taken = `no worker that serves it has room (${eligible}): ${running} of ${slots} slots are taken`;
  return running < slots
    ? `${taken}, a busy processor or large payloads hold back the others; see troupe workers ls`
    : `${taken}; start more workers`;
}

function workersText(count: number): string {
  return count === 1 ? '1 worker' : `${count} workers`;
}

function queueText(queue: string): string {
  return queue === '*' ? 'all queues are' : `queue ${queue} is`;
}

/** `950 ms`, `12 s`, `3 min`, `2 h`, `5 d` */
export function timeText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}
