import type { Overview } from '../api.js';
import type { Live, Sample } from '../live.js';
import { Command } from '../parts/command.js';
import { ExecFigures, type ExecRow } from '../parts/exec-figures.js';
import { count, perSecond, waiting } from '../parts/format.js';
import { type LeaderProblem, problemsOf } from '../parts/problem-list.js';
import { Sparkline } from '../parts/sparkline.js';
import { useFollowed } from '../parts/use-look.js';
import { Waiting } from '../parts/waiting.js';

const CLOSED_SHOWN = 5;

export function OverviewView(live: Live) {
  const { overview, samples } = live;
  const { value: figures } = useFollowed<QueuesAnswer>('/api/queues');
  if (overview === undefined) return <Waiting />;
  const { counts, workers } = overview;
  const accepted = rates(samples, ({ accepted: total }) => total);
  const ended = rates(
    samples,
    ({ accepted: total, counts: { queued, running } }) => total - queued - running,
  );
  return (
    <>
      <h1>Overview</h1>
      <Problems problems={problemsOf(live)} closed={closedOf(figures)} />
      <div class="cards">
        <Card name="Accepted/s" value={accepted.at(-1) ?? 0} show={perSecond} course={accepted} />
        <Card name="Ended/s" value={ended.at(-1) ?? 0} show={perSecond} course={ended} />
        <Card name="Queued" value={counts.queued} course={samples.map((one) => one.overview.counts.queued)} />
        <Card
          name="Running"
          value={counts.running}
          course={samples.map((one) => one.overview.counts.running)}
        />
        <Card
          name="Oldest waits"
          value={oldest(overview)}
          show={waiting}
          course={samples.map((one) => oldest(one.overview))}
        />
        <Card name="Done, kept" value={counts.done} course={samples.map((one) => one.overview.counts.done)} />
        <Card
          name="Dead letters"
          value={counts.dead}
          course={samples.map((one) => one.overview.counts.dead)}
        />
        <Card
          name="Workers alive"
          value={alive(overview)}
          course={samples.map((one) => alive(one.overview))}
        />
      </div>
      {figures === undefined || figures.execs.length === 0 ? null : (
        <>
          <h2>
            Jobs by name <small>rates of the last minute</small>
          </h2>
          <ExecFigures execs={figures.execs} />
        </>
      )}
      {overview.accepted > 0 ? null : <FirstSteps hasWorker={workers.length > 0} />}
    </>
  );
}

/** Of a leader that never had a job. */
function FirstSteps({ hasWorker }: { readonly hasWorker: boolean }) {
  return (
    <div class="empty">
      <p>
        {hasWorker
          ? 'A worker is connected, and no job was submitted yet. Submit one:'
          : 'Nothing is going on. Start a worker with the handlers of your jobs, then submit one:'}
      </p>
      {hasWorker ? null : <Command text="npx troupe worker handlers.mjs" />}
      <Command text="npx troupe run math.add '[1, 2]'" />
    </div>
  );
}

interface QueueMode {
  readonly queue: string;
  readonly mode: string;
}

/** Latency and age by exec, where the leader has figures, and the modes of the queues. */
interface QueuesAnswer {
  readonly execs: readonly ExecRow[];
  readonly queues: readonly QueueMode[];
}

function closedOf(figures: QueuesAnswer | undefined): readonly QueueMode[] {
  return (figures?.queues ?? []).filter(({ mode }) => mode !== 'open').slice(0, CLOSED_SHOWN);
}

interface CardProps {
  readonly name: string;
  readonly value: number;
  readonly course: readonly number[];
  readonly show?: (value: number) => string;
}

function Card({ name, value, course, show = count }: CardProps) {
  return (
    <div class="card">
      <div class="name">{name}</div>
      <div class="value">{show(value)}</div>
      <Sparkline values={course} label={`${name}, the last two minutes`} />
    </div>
  );
}

interface ProblemsProps {
  readonly problems: readonly LeaderProblem[];
  /** Queues that are paused or drained: somebody wanted that. */
  readonly closed: readonly QueueMode[];
}

function Problems({ problems, closed }: ProblemsProps) {
  if (problems.length + closed.length === 0) return <p class="well">All is well: submits are taken.</p>;
  return (
    <>
      {problems.length === 0 ? null : (
        <ul class="problems" aria-label="Problems">
          {problems.map(({ text, remedy, command, page, link }) => (
            <li key={text}>
              <strong>{text}</strong> {remedy} {command === undefined ? null : <Command text={command} />}{' '}
              <a href={`#/${page}`}>{link}</a>
            </li>
          ))}
        </ul>
      )}
      {closed.map(({ queue, mode }) => (
        <p key={queue} class="notice">
          {queue === '*' ? 'All queues are' : `Queue ${queue} is`} {mode}:{' '}
          {mode === 'paused' ? 'no job begins.' : 'submits are refused.'} <a href="#/queues">Queues</a>
        </p>
      ))}
    </>
  );
}

function alive({ workers }: Overview): number {
  return workers.filter(({ liveness }) => liveness === 'alive').length;
}

/** How long the oldest job waits that is due. */
function oldest({ execs = [] }: Overview): number {
  return Math.max(0, ...execs.map(({ oldestMs }) => oldestMs));
}

/** Change per second between neighbouring samples. */
function rates(samples: readonly Sample[], figure: (overview: Overview) => number): number[] {
  return samples.slice(1).map((sample, at) => {
    const before = samples[at] as Sample; // one for each but the first
    const seconds = Math.max(0.001, (sample.at - before.at) / 1000);
    return Math.max(0, (figure(sample.overview) - figure(before.overview)) / seconds);
  });
}
