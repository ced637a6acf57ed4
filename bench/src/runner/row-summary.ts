import { pairedInterval, ratioInterval } from '../stats/bootstrap-interval.js';
import { median, quantile } from '../stats/quantile.js';
import type { ProcessResult } from './process-output.js';
import type { Row } from './report.js';
import type { Case, Headline, Measurement } from './suite.js';

export function headlineOf(benchmark: Pick<Case, 'headline'>): Headline {
  return benchmark.headline ?? 'opsPerSecond';
}

function figure(sample: Measurement, headline: Headline): number {
  return headline === 'opsPerSecond' ? sample.completed / sample.seconds : (sample[headline] ?? Number.NaN);
}

/** Why the samples may not become a row, or `undefined`. Only completed, correct work is shown. */
export function refusal(benchmark: Case, processes: readonly ProcessResult[]): string | undefined {
  const samples = processes.flatMap((process) => process.samples);
  if (samples.length === 0) return 'no process gave a sample';
  const short = samples.find((sample) => sample.completed !== sample.attempted);
  if (short !== undefined) return `completed ${short.completed} of ${short.attempted} ${benchmark.unit}`;
  if (samples.some((sample) => sample.oracle === false))
    return 'the oracle does not hold: the result is wrong';
  const headline = headlineOf(benchmark);
  if (samples.some((sample) => !Number.isFinite(figure(sample, headline))))
    return `no figure for ${headline}`;
  return undefined;
}

/** The middle sample by speed, whole, so that a row's own numbers agree with each other. */
function medianSample(samples: readonly Measurement[]): Measurement {
  const bySpeed = [...samples].sort((a, b) => a.completed / a.seconds - b.completed / b.seconds);
  const middle = bySpeed[Math.floor((bySpeed.length - 1) / 2)];
  if (middle === undefined) throw new RangeError('a row needs at least one sample');
  return middle;
}

function medianOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : median(known);
}

function medianFields(processes: readonly ProcessResult[]): Record<string, number> {
  const samples = processes.flatMap((process) => process.samples);
  const fields: Record<string, number | undefined> = {
    p50: medianOf(samples.map((sample) => sample.p50)),
    p99: medianOf(samples.map((sample) => sample.p99)),
    max: medianOf(samples.map((sample) => sample.max)),
    heapBytes: medianOf(samples.map((sample) => sample.heapBytes)),
    rssBytes: medianOf(processes.map((process) => process.rssBytes)),
    gcShare: medianOf(processes.map((process) => process.gcShare)),
    loopDelayP99: medianOf(processes.map((process) => process.loopDelayP99)),
  };
  for (const name of new Set(samples.flatMap((sample) => Object.keys(sample.extra ?? {})))) {
    fields[name] = medianOf(samples.map((sample) => sample.extra?.[name]));
  }
  const known: Record<string, number> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) known[name] = value;
  return known;
}

/** The 10th to the 90th percentile; of fewer than ten samples, all of them. */
function spread(figures: readonly number[]): { low: number; high: number } {
  const tail = figures.length < 10 ? 0 : 0.1;
  return { low: quantile(figures, tail), high: quantile(figures, 1 - tail) };
}

/** The caller has asked `refusal` first. */
export function rowOf(benchmark: Case, system: string, processes: readonly ProcessResult[]): Row {
  const samples = processes.flatMap((process) => process.samples);
  const headline = headlineOf(benchmark);
  const figures = samples.map((sample) => figure(sample, headline));
  const middle = medianSample(samples);
  return {
    benchmark: benchmark.benchmark,
    system,
    attempted: middle.attempted,
    completed: middle.completed,
    seconds: middle.seconds,
    opsPerSecond: middle.completed / middle.seconds,
    unit: benchmark.unit,
    ...medianFields(processes),
    headline,
    ...spread(figures),
    samples: samples.length,
    rounds: processes.length,
    ...(benchmark.group !== undefined && { group: benchmark.group }),
    ...(middle.oracle !== undefined && { oracle: middle.oracle }),
  };
}

export interface Ratio {
  readonly value: number;
  readonly interval: readonly [number, number];
}

/** One figure per process: its samples share code layout and heap and are not independent. */
export function processFigure(process: ProcessResult, headline: Headline): number {
  return median(process.samples.map((sample) => figure(sample, headline)));
}

function headlineFigures(processes: readonly ProcessResult[], headline: Headline): number[] {
  return processes.map((process) => processFigure(process, headline));
}

function rowFigure(row: Row, headline: Headline): number {
  return row[headline] ?? Number.NaN;
}

/** One ratio per process, where both systems ran in turns in every process; `undefined` where they did not. */
function ratiosInTurns(processes: readonly ProcessResult[]): readonly number[] | undefined {
  const ratios = processes.map(({ samples }) =>
    median(samples.map((sample) => sample.inTurns ?? Number.NaN)),
  );
  return ratios.some(Number.isNaN) ? undefined : ratios;
}

/** Above 1 always means that `ours` is better, whichever way the headline figure points. */
export function ratioOf(
  benchmark: Case,
  ours: { row: Row; processes: readonly ProcessResult[] },
  theirs: { row: Row; processes: readonly ProcessResult[] },
): Ratio {
  const inTurns = ratiosInTurns(theirs.processes);
  if (inTurns !== undefined) {
    const { low, high } = pairedInterval(inTurns);
    return { value: median(inTurns), interval: [low, high] };
  }
  const headline = headlineOf(benchmark);
  const [above, below] = headline === 'opsPerSecond' ? [ours, theirs] : [theirs, ours];
  const { low, high } = ratioInterval(
    headlineFigures(above.processes, headline),
    headlineFigures(below.processes, headline),
  );
  return { value: rowFigure(above.row, headline) / rowFigure(below.row, headline), interval: [low, high] };
}
