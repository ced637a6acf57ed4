import type { Overview } from '../api.js';
import type { Live, Sample } from '../live.js';
import { amount, bytes, count, span } from './format.js';

/** A reason to act: the event, the remedy, and the page that shows more. */
export interface LeaderProblem {
  readonly text: string;
  readonly remedy: string;
  /** To be run in a terminal. */
  readonly command?: string;
  readonly page: string;
  readonly link: string;
}

/** A queue whose oldest job waits for longer is reported. */
const OLDEST_MS = 60_000;
const UNSERVED_MS = 1_000;
const CLOCK_STEP_MS = 5_000;
/** Of one kind; a leader may have thousands of queues. */
const SHOWN_MAX = 5;

const AWAY: LeaderProblem = {
  text: 'The leader does not answer: the figures are those of the last look.',
  remedy: 'Submits and workers wait for it. If it has ended, start it again on its folder:',
  command: 'npx troupe leader --dir ./state',
  page: 'storage',
  link: 'Its log',
};

/** Worst first. */
export function problemsOf({ overview, samples, isConnected }: Live): readonly LeaderProblem[] {
  if (overview === undefined) return [];
  return [
    ...(isConnected ? [] : [AWAY]),
    ...refusals(overview),
    ...disk(overview),
    ...unserved(overview),
    ...workers(overview),
    ...old(overview),
    ...deadLetters(overview, samples),
    ...quotas(overview),
    ...clock(overview),
  ];
}

function refusals({ refusing }: Overview): LeaderProblem[] {
  return refusing.map(({ code, problem }) => ({
    text: `Submits are refused: ${problem} (${code}).`,
    remedy: 'The table of limits shows which one is reached; end or delete jobs, or raise it.',
    page: 'storage',
    link: 'Storage',
  }));
}

function disk({ diskLow, log }: Overview): LeaderProblem[] {
  const free = log.freeBytes === undefined ? '' : `: ${bytes(log.freeBytes)} are free`;
  return [
    ...(diskLow
      ? [
          {
            text: `The disk of the leader has too little space${free}.`,
            remedy:
              'Submits are refused until there is more: delete files, or dead letters with large inputs.',
            page: 'storage',
            link: 'Storage',
          },
        ]
      : []),
    ...(log.failedSnapshots > 0
      ? [
          {
            text: `${amount(log.failedSnapshots, 'snapshot')} failed: the log grows until one is made.`,
            remedy: 'The output of the leader has the reason.',
            page: 'storage',
            link: 'Storage',
          },
        ]
      : []),
  ];
}

function unserved({ execs = [] }: Overview): LeaderProblem[] {
  // Jobs that are not due yet need no worker yet; one that has just come may get its worker at once.
  const found = execs.filter((exec) => (exec.unserved ?? 0) > 0 && exec.oldestMs > UNSERVED_MS);
  return found.slice(0, SHOWN_MAX).map(({ exec, unserved: jobs = 0, oldestMs }) => ({
    text: `No worker takes ${exec}: ${count(jobs)} ${jobs === 1 ? 'waits' : 'wait'}, the oldest for ${span(oldestMs)}.`,
    remedy: 'Start one that has it, with the labels that its jobs require:',
    command: 'npx troupe worker handlers.mjs',
    page: `jobs?state=queued&exec=${encodeURIComponent(exec)}`,
    link: 'Its jobs',
  }));
}

function workers({ workers: all }: Overview): LeaderProblem[] {
  const blocked = all.filter(({ liveness }) => liveness === 'blocked').slice(0, SHOWN_MAX);
  const gone = all.filter(({ liveness, running }) => liveness === 'gone' && running > 0).slice(0, SHOWN_MAX);
  return [
    ...blocked.map(({ worker, blockedMs }) => ({
      text: `Worker ${worker} is blocked for ${span(blockedMs)}.`,
      remedy: 'A handler computes without a pause: let it run on threads.',
      page: 'workers',
      link: 'Workers',
    })),
    ...gone.map(({ worker, running }) => ({
      text: `Worker ${worker} is gone, with ${amount(running, 'attempt')} running.`,
      remedy: 'Its jobs are given to others when its grace period is over; start it again to keep them.',
      page: 'workers',
      link: 'Workers',
    })),
  ];
}

function old({ execs = [] }: Overview): LeaderProblem[] {
  const waiting = execs.filter(({ oldestMs, unserved: jobs = 0 }) => oldestMs > OLDEST_MS && jobs === 0);
  return waiting.slice(0, SHOWN_MAX).map(({ exec, queued, oldestMs }) => ({
    text: `The oldest job of ${exec} waits for ${span(oldestMs)}, with ${count(queued)} in its queue.`,
    remedy: 'The queue may be paused or limited; otherwise start more workers, or give them more slots.',
    page: 'queues',
    link: 'Queues',
  }));
}

function deadLetters({ counts }: Overview, samples: readonly Sample[]): LeaderProblem[] {
  const [first] = samples;
  const risen = first === undefined ? 0 : counts.dead - first.overview.counts.dead;
  if (first === undefined || risen <= 0) return [];
  return [
    {
      text: `${count(risen)} more dead letter${risen === 1 ? '' : 's'} within ${span(Date.now() - first.at)}, ${count(counts.dead)} in all.`,
      remedy: 'Look at their errors, mend the handler, then queue them again.',
      page: 'dead-letters',
      link: 'Dead letters',
    },
  ];
}

function quotas({ nearQuotas = [] }: Overview): LeaderProblem[] {
  return nearQuotas.slice(0, SHOWN_MAX).map(({ identity, table, used, max }) => ({
    text: `${identity || 'Clients without a key'} use ${count(used)} of ${count(max)} ${table}.`,
    remedy: 'Beyond it their submits are refused.',
    page: `jobs?tenant=${encodeURIComponent(identity)}`,
    link: 'Their jobs',
  }));
}

function clock({ clockStepMs = 0 }: Overview): LeaderProblem[] {
  if (Math.abs(clockStepMs) < CLOCK_STEP_MS) return [];
  const where = clockStepMs < 0 ? 'behind' : 'ahead of';
  return [
    {
      text: `The clock of the leader’s machine is ${span(Math.abs(clockStepMs))} ${where} the times of its records.`,
      remedy:
        'It was set while the leader ran, or is wrong. Delays and schedules follow it after a restart of the leader.',
      page: 'schedules',
      link: 'Schedules',
    },
  ];
}
