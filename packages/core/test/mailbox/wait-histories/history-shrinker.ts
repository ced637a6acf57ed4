import type { Message, OutsideAct, Step, WaitHistory } from './wait-history.js';

/** Runs that a shrink may take. */
const RUNS_MAX = 3_000;

/** A history with as little in it as possible that still fails. */
export async function shrinkHistory(
  history: WaitHistory,
  fails: (smaller: WaitHistory) => Promise<boolean>,
): Promise<WaitHistory> {
  let smallest = history;
  let runs = 0;
  for (let found = true; found; ) {
    found = false;
    for (const candidate of smallerHistories(smallest)) {
      runs += 1;
      if (runs > RUNS_MAX) return smallest;
      if (!(await fails(candidate))) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return smallest;
}

/** All histories that are smaller by one thing, the largest cuts first. */
function* smallerHistories(history: WaitHistory): Generator<WaitHistory> {
  for (const acts of withoutOne(history.acts)) yield { ...history, acts };
  for (const acts of withOneSmaller(history.acts, smallerActs)) yield { ...history, acts };
  for (const actors of withOneSmaller(history.actors, function* (plan) {
    if (plan.kind !== 'actor') yield { ...plan, kind: 'actor' as const };
    if (plan.throughput > 1) yield { ...plan, throughput: 1 };
    if (plan.capacity > 1) yield { ...plan, capacity: 1 };
  }))
    yield { ...history, actors };
}

function* smallerActs(act: OutsideAct): Generator<OutsideAct> {
  if (act.at > 0) yield { ...act, at: 0 };
  if ('message' in act) {
    if (act.act !== 'tell') yield { ...act, act: 'tell' };
    for (const message of smallerMessages(act.message)) yield { ...act, message };
  }
}

function* smallerMessages(message: Message): Generator<Message> {
  for (const steps of withoutOne(message.steps)) yield { ...message, steps };
  if (message.reply.by !== 'result') yield { ...message, reply: { by: 'result' } };
  for (const steps of withOneSmaller(message.steps, smallerSteps)) yield { ...message, steps };
  if (message.reply.by === 'ask')
    for (const inner of smallerMessages(message.reply.message))
      yield { ...message, reply: { by: 'ask', message: inner } };
}

function* smallerSteps(step: Step): Generator<Step> {
  if (step.does === 'tell' && step.count > 1) {
    yield { ...step, count: 1 };
    yield { ...step, count: step.count - 1 };
  }
  if ('ms' in step && step.ms > 1) yield { ...step, ms: 1 };
  if ('withinMs' in step && step.withinMs !== undefined) yield { ...step, withinMs: undefined };
  if ('via' in step && step.via === 'ctx') yield { ...step, via: 'ref' };
  if ('message' in step) for (const message of smallerMessages(step.message)) yield { ...step, message };
}

function* withoutOne<T>(items: readonly T[]): Generator<T[]> {
  for (const at of items.keys()) yield items.toSpliced(at, 1);
}

function* withOneSmaller<T>(items: readonly T[], smaller: (item: T) => Iterable<T>): Generator<T[]> {
  for (const [at, item] of items.entries()) for (const less of smaller(item)) yield items.with(at, less);
}
