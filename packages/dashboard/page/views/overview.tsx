import type { Overview } from '../api.js';
import type { Live, Sample } from '../live.js';
import { ExecFigures, type ExecRow } from '../parts/exec-figures.js';
import { count } from '../parts/format.js';
import { Sparkline } from '../parts/sparkline.js';
import { useLook } from '../parts/use-look.js';

const FIGURES_MS = 5_000;

export function OverviewView({ overview, samples }: Live) {
  if (overview === undefined) return <p class="empty">Waiting for the leader …</p>;
  const { counts, workers } = overview;
  const alive = workers.filter(({ liveness }) => liveness === 'alive').length;
  const accepted = rates(samples, ({ accepted: total }) => total);
  return (
    <>
      <h1>Overview</h1>
      <Problems overview={overview} />
      <div class="cards">
        <Card name="Accepted per second" value={accepted.at(-1) ?? 0} course={accepted} />
        <Card name="Queued" value={counts.queued} course={samples.map((one) => one.overview.counts.queued)} />
        <Card
          name="Running"
          value={counts.running}
          course={samples.map((one) => one.overview.counts.running)}
        />
        <Card name="Done, kept" value={counts.done} course={samples.map((one) => one.overview.counts.done)} />
        <Card
          name="Dead letters"
          value={counts.dead}
          course={samples.map((one) => one.overview.counts.dead)}
        />
        <Card name="Workers alive" value={alive} course={samples.map((one) => one.overview.workers.length)} />
      </div>
      <Figures />
      {counts.queued > 0 || counts.running > 0 || workers.length > 0 ? null : (
        <p class="empty">
          Nothing is going on. Start a worker: <code>npx troupe worker handlers.mjs</code>, then submit a job:{' '}
          <code>npx troupe run math.add '[1, 2]'</code>
        </p>
      )}
    </>
  );
}

/** Latency and age by exec, where the leader has figures. */
function Figures() {
  const { value } = useLook<{ readonly execs: readonly ExecRow[] }>('/api/queues', FIGURES_MS);
  if (value === undefined || value.execs.length === 0) return null;
  return (
    <>
      <h2>Jobs by name</h2>
      <ExecFigures execs={value.execs} />
    </>
  );
}

interface CardProps {
  readonly name: string;
  readonly value: number;
  readonly course: readonly number[];
}

function Card({ name, value, course }: CardProps) {
  return (
    <div class="card">
      <div class="name">{name}</div>
      <div class="value">{count(Math.round(value))}</div>
      <Sparkline values={course} label={`${name}, the last two minutes`} />
    </div>
  );
}

function Problems({ overview }: { readonly overview: Overview }) {
  const problems = problemsOf(overview);
  if (problems.length === 0) return <p class="well">All is well: submits are taken.</p>;
  return (
    <ul class="problems" aria-label="Problems">
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  );
}

/** What is wrong, each with what to do. */
function problemsOf({ counts, refusing, workers, log, diskLow }: Overview): string[] {
  const blocked = workers.filter(({ liveness }) => liveness === 'blocked');
  const isIdle = counts.queued > 0 && workers.every(({ liveness }) => liveness !== 'alive');
  return [
    ...refusing.map(({ code, problem }) => `Submits are refused: ${problem} (${code}).`),
    ...(isIdle
      ? [`${count(counts.queued)} jobs wait and no worker is alive: start one with troupe worker.`]
      : []),
    ...blocked.map(
      ({ worker, blockedMs }) =>
        `Worker ${worker} is blocked for ${Math.round(blockedMs / 1000)} s: its handler computes; give it threads.`,
    ),
    ...(diskLow ? ['The disk of the leader has too little space: free some.'] : []),
    ...(log.failedSnapshots > 0
      ? [`${log.failedSnapshots} snapshots failed: see the log of the leader.`]
      : []),
  ];
}

/** Change per second between neighbouring samples. */
function rates(samples: readonly Sample[], figure: (overview: Overview) => number): number[] {
  return samples.slice(1).map((sample, at) => {
    const before = samples[at] as Sample; // one for each but the first
    const seconds = Math.max(0.001, (sample.at - before.at) / 1000);
    return Math.max(0, (figure(sample.overview) - figure(before.overview)) / seconds);
  });
}
