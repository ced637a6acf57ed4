import { Command } from '../parts/command.js';
import { amount, span, time } from '../parts/format.js';
import { useFollowed } from '../parts/use-look.js';

type Reason = { readonly kind: string } & Readonly<Record<string, unknown>>;

interface Answer {
  readonly state: string;
  readonly reasons: readonly Reason[];
  readonly estimateMs?: number | undefined;
}

/** Why a queued job does not run. */
export function Explanation({ id }: { readonly id: string }) {
  const { value, problem } = useFollowed<Answer>(`/api/jobs/${id}/explain`);
  if (problem !== '' || value === undefined || value.state !== 'queued') return null;
  return (
    <>
      <h2>Why it waits</h2>
      <ul class="card reasons">
        {value.reasons.length === 0 ? <li>It is next.</li> : null}
        {value.reasons.map((reason) => (
          <li key={reason.kind + String(reason['queue'] ?? '')}>
            {textOf(reason)} <Remedy kind={reason.kind} />
          </li>
        ))}
        {value.estimateMs === undefined ? null : (
          <li class="quiet">It begins in about {span(value.estimateMs)}.</li>
        )}
      </ul>
    </>
  );
}

/** Where an operator can act. */
function Remedy({ kind }: { readonly kind: string }) {
  if (kind === 'no-worker') return <Command text="npx troupe worker handlers.mjs" />;
  if (kind === 'no-credit') return <a href="#/workers">Workers</a>;
  const isOfQueue = kind === 'paused' || kind === 'running-max' || kind === 'rate';
  return isOfQueue ? <a href="#/queues">Queues</a> : null;
}

const TEXTS: Readonly<Record<string, (reason: Reason) => string>> = {
  delayed: ({ dueAt, leftMs }) => `It is due in ${span(Number(leftMs))}, at ${time(Number(dueAt))}.`,
  paused: ({ queue, by }) =>
    queue === '*' ? `All queues are paused by ${by}.` : `Queue ${queue} is paused by ${by}.`,
  'running-max': ({ queue, running, max }) =>
    `${queue === '*' ? 'All queues run' : `Queue ${queue} runs`} ${running} of at most ${max} attempts.`,
  rate: ({ queue, leftMs }) =>
    `The rate of ${queue} is used up; the next start is in ${span(Number(leftMs))}.`,
  'order-key': ({ orderKey, holders, ahead }) =>
    `Order key ${orderKey} is busy with ${(holders as string[]).join(', ')}; ${ahead} ${ahead === 1 ? 'waits' : 'wait'} before it.`,
  'tenant-max': ({ tenant, running, max }) => `Tenant ${tenant} runs ${running} of at most ${max} attempts.`,
  ahead: ({ ofTenant, ofOthers, ofHigherPriority }) => {
    const jobs = Number(ofTenant) + Number(ofOthers) + Number(ofHigherPriority);
    return `${amount(jobs, 'job')} ${jobs === 1 ? 'begins' : 'begin'} before it.`;
  },
  'no-worker': ({ workers, quiet, requires }) =>
    `No worker serves it${(requires as string[]).length === 0 ? '' : ` with ${(requires as string[]).join(', ')}`}: ${workers} connected${Number(quiet) > 0 ? `, ${quiet} that could are quiet` : ''}.`,
  'no-credit': ({ eligible, slots, running }) =>
    `${amount(Number(eligible), 'worker')} could run it and none has room: ${running} of ${slots} slots are taken.`,
  'leader-draining': () => 'The leader is shutting down.',
  'being-written': () => 'A record about it is on its way to the disk.',
};

/** A leader of a later version may have further reasons. */
function textOf(reason: Reason): string {
  return TEXTS[reason.kind]?.(reason) ?? JSON.stringify(reason);
}
