import { flag, type OptionRule, options, rule, wholeNumber } from '@troupe/core/option-check';
import { JobDefinitionError } from '../../jobs-error.js';
import { YEAR_MS } from '../../option-check.js';
import type { HandledJob } from '../handlers/handler.js';

/** The instances of a warm runner in one worker. */
export interface RunnerPoolOptions {
  /** Instances at once; each runs one attempt at a time. Default 1. */
  readonly size?: number | undefined;
  /** Loads every instance at the start of the worker and after a recycle, not at first use. Default false. */
  readonly warm?: boolean | undefined;
  /** Attempts after which an instance is unloaded and another takes its place. Default: no limit. */
  readonly runsMax?: number | undefined;
  /** Keeps an instance after an attempt that failed or exceeded a time limit. Default false. */
  readonly keepAfterError?: boolean | undefined;
  /** How often an idle instance is checked by `healthy`. Default 10,000. */
  readonly checkMs?: number | undefined;
}

export const poolRule: OptionRule = options({
  size: wholeNumber(1, 1_024),
  warm: flag,
  runsMax: wholeNumber(1),
  keepAfterError: flag,
  checkMs: wholeNumber(1, YEAR_MS),
});

/** The name of a warm runner that several handlers share. */
export const runnerName: OptionRule = rule(
  '1 to 100 letters, digits and _ . : / -',
  (value) => typeof value === 'string' && /^[\w.:/-]{1,100}$/.test(value),
);

/** The rules of one pool, as data. */
export interface RunnerPlan {
  readonly runner: string;
  /** The jobs that run on it, by name. */
  readonly execs: readonly string[];
  /** The same, as `group/exec`. */
  readonly served: readonly string[];
  readonly size: number;
  readonly warm: boolean;
  readonly runsMax: number;
  readonly keepAfterError: boolean;
  /** Infinity: instances are not checked. */
  readonly checkMs: number;
}

/** The code of one runner. */
export type RunnerFunctions = Pick<HandledJob, 'load' | 'unload' | 'healthy'>;

export interface PlannedRunner {
  readonly plan: RunnerPlan;
  readonly functions: RunnerFunctions;
  /** The handlers that share it. */
  readonly handlers: readonly HandledJob[];
}

const CHECK_MS = 10_000;

/** The warm runners of these handlers. Of handlers that share one, exactly one has `load`. */
export function planRunners(handlers: readonly HandledJob[]): readonly PlannedRunner[] {
  const sharers = new Map<string, HandledJob[]>();
  for (const handled of handlers) {
    if (handled.job.useStatic !== true) continue;
    const runner = handled.runner ?? handled.job.exec;
    sharers.set(runner, [...(sharers.get(runner) ?? []), handled]);
  }
  return Array.from(sharers, ([runner, shared]) => planOf(runner, shared));
}

function planOf(runner: string, shared: readonly HandledJob[]): PlannedRunner {
  const owner = ownerOf(runner, shared);
  const { size = 1, warm = false, runsMax, keepAfterError = false, checkMs = CHECK_MS } = owner.pool ?? {};
  const plan = {
    runner,
    execs: shared.map(({ job }) => job.exec),
    served: shared.map(({ job }) => `${job.policy.group}/${job.exec}`),
    size,
    warm,
    runsMax: runsMax ?? Number.POSITIVE_INFINITY,
    keepAfterError,
    checkMs: owner.healthy === undefined ? Number.POSITIVE_INFINITY : checkMs,
  };
  const { load, unload, healthy } = owner;
  return { plan, functions: { load, unload, healthy }, handlers: shared };
}

function ownerOf(runner: string, shared: readonly HandledJob[]): HandledJob {
  const [first] = shared as readonly [HandledJob, ...HandledJob[]]; // a runner is there for a handler
  if (first.runner === undefined && shared.length === 1) return first;
  const owners = shared.filter(({ load }) => load !== undefined);
  const [owner] = owners;
  if (owner === undefined || owners.length > 1) {
    const execs = shared.map(({ job }) => job.exec).join(', ');
    const problem = `exactly one of its handlers has load, not ${owners.length} of ${execs}`;
    throw new JobDefinitionError(`runner '${runner}'`, problem);
  }
  return owner;
}
