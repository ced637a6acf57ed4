import { pairedInterval, ratioInterval } from '../stats/bootstrap-interval.js';
import { median, quantile } from '../stats/quantile.js';
import type { ProcessResult } from './process-output.js';
import type { Row } from './report.js';
import type { Case, Headline, Measurement } from './suite.js';

export function headlineOf(benchmark: Pick<Case, 'headline'>): Headline {
  return benchmark.headline ?? 'opsPerSecond';
}

function headlineNumber(sample: Measurement, headline: Headline): number {
  return headline === 'opsPerSecond' ? sample.completed / sample.seconds : (sample[headline] ?? Number.NaN);
}

/** The reason to refuse a row, or `undefined`. Only complete and correct work is shown. */
export function refusalReason(benchmark: Case, processes: readonly ProcessResult[]): string | undefined {
  const samples = processes.flatMap((process) => process.samples);
  if (samples.length === 0) return 'no process gave a sample';
  const short = samples.find((sample) => sample.completed !== sample.attempted);
  if (short !== undefined) return `completed ${short.completed} of ${short.attempted} ${benchmark.unit}`;
  if (samples.some((sample) => sample.oracle === false)) return 'the oracle fails: the result is wrong';
  const headline = headlineOf(benchmark);
  if (samples.some((sample) => !Number.isFinite(headlineNumber(sample, headline))))
    return `no number for ${headline}`;
  return undefined;
}

/** The middle sample by speed as a whole, so that the numbers of a row agree with each other. */
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

/** The 10th to the 90th percentile; the whole range below ten samples. */
function spread(numbers: readonly number[]): { low: number; high: number } {
  const tail = numbers.length < 10 ? 0 : 0.1;
  return { low: quantile(numbers, tail), high: quantile(numbers, 1 - tail) };
}

/** Requires samples without a `refusalReason`. */
export function rowOf(benchmark: Case, system: string, processes: readonly ProcessResult[]): Row {
  const samples = processes.flatMap((process) => process.samples);
  const headline = headlineOf(benchmark);
  const numbers = samples.map((sample) => headlineNumber(sample, headline));
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
    ...spread(numbers),
    samples: samples.length,
    rounds: processes.length,
    group: benchmark.group,
    oracle: middle.oracle,
  };
}

export interface Ratio {
  readonly value: number;
  readonly interval: readonly [number, number];
}

/** One number per process: its samples share code layout and heap and are not independent. */
export function processMedian(process: ProcessResult, headline: Headline): number {
  return median(process.samples.map((sample) => headlineNumber(sample, headline)));
}

function processMedians(processes: readonly ProcessResult[], headline: Headline): number[] {
  return processes.map((process) => processMedian(process, headline));
}

function rowNumber(row: Row, headline: Headline): number {
  return row[headline] ?? Number.NaN;
}

/** One ratio per process if both systems alternated in every process, else `undefined`. */
function pairedRatios(processes: readonly ProcessResult[]): readonly number[] | undefined {
  const ratios = processes.map(({ samples }) =>
    median(samples.map((sample) => sample.pairedRatio ?? Number.NaN)),
  );
  return ratios.some(Number.isNaN) ? undefined : ratios;
}

/** Above 1 `ours` is better, also where a lower headline number is better. */
export function ratioOf(
  benchmark: Case,
  ours: { row: Row; processes: readonly ProcessResult[] },
  theirs: { row: Row; processes: readonly ProcessResult[] },
): Ratio {
  const ratios = pairedRatios(theirs.processes);
  if (ratios !== undefined) {
    const { low, high } = pairedInterval(ratios);
    return { value: median(ratios), interval: [low, high] };
  }
  const headline = headlineOf(benchmark);
  const [above, below] = headline === 'opsPerSecond' ? [ours, theirs] : [theirs, ours];
  const { low, high } = ratioInterval(
    processMedians(above.processes, headline),
    processMedians(below.processes, headline),
  );
  return { value: rowNumber(above.row, headline) / rowNumber(below.row, headline), interval: [low, high] };
}
