import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import {
  AWAITING,
  DRAINING,
  FAULT,
  GATED,
  MUTED,
  OVERLOADED,
  SCHEDULED,
  STOPPING,
  SUSPENDED,
  TERMINATED,
} from '../mailbox/status-word.js';
import { checkOption, number, rule } from '../option-check.js';
import type { ActorStatus, ActorView, InspectOptions } from './actor-view.js';
import { describeActivity } from './describe-activity.js';

const LEVELS_DEFAULT = 32;
const CHILDREN_DEFAULT = 1_000;

const WORDS: readonly (readonly [number, ActorStatus])[] = [
  [SCHEDULED, 'ready'],
  [AWAITING, 'awaiting'],
  [MUTED, 'muted'],
  [OVERLOADED, 'overloaded'],
  [SUSPENDED, 'suspended'],
  [FAULT, 'failed'],
  [DRAINING, 'draining'],
  [STOPPING, 'stopping'],
];

const numberOfChildren = rule(
  'a number of at least 0, or Infinity',
  (value) => typeof value === 'number' && value >= 0,
);

type InspectedParts = Parts<'childLists' | 'host' | 'ready' | 'remote'>;

/** An actor and the actors below it, at this moment. Costs nothing while it is not called. */
export function inspectActor(
  runtime: InspectedParts,
  cell: ActorCell,
  options: InspectOptions = {},
): ActorView {
  const { levels = LEVELS_DEFAULT, childrenMax = CHILDREN_DEFAULT } = options;
  checkOption('inspect.levels', levels, number(0, 1_000));
  checkOption('inspect.childrenMax', childrenMax, numberOfChildren);
  return viewOf(runtime, cell, levels, childrenMax);
}

function viewOf(runtime: InspectedParts, cell: ActorCell, levels: number, childrenMax: number): ActorView {
  const now = runtime.host.now();
  const activity = describeActivity(cell, now);
  const { cold, status } = cell;
  const children = runtime.childLists.childrenOf(cell);
  const shown = levels === 0 ? [] : children.slice(0, childrenMax);
  const stashed = cold?.stash?.length ?? 0;
  return {
    path: cell.path,
    id: cell.id,
    actor: cell.type.name,
    phase: cell.type.phase,
    thread: cold?.route === undefined ? undefined : runtime.remote?.nameOf(cold.route.runsOn),
    status: wordsOf(status),
    activity,
    notRunning: (status & GATED) === 0 ? undefined : { why: activity, forMs: gatedFor(cell, now) },
    depth: cell.queue.length,
    stashed,
    handled: (status & TERMINATED) === 0 ? runtime.ready.handledBy(cell.slot) : 0,
    restarts: cold?.restarts ?? 0,
    timers: cold?.timers?.count ?? 0,
    watchers: cold?.watchers?.size ?? 0,
    bytes: bytesOf(cell, stashed),
    slowest: cold?.slowest,
    children: shown.map((child) => viewOf(runtime, child, levels - 1, childrenMax)),
    hidden: children.length - shown.length,
  };
}

function wordsOf(status: number): readonly ActorStatus[] {
  // The other bits of a terminated mailbox have another meaning, see `Mailbox.markTerminated`.
  if ((status & TERMINATED) !== 0) return ['terminated'];
  const words = WORDS.filter(([bit]) => (status & bit) !== 0).map(([, word]) => word);
  return words.length === 0 ? ['idle'] : words;
}

/** Since the oldest of its reasons. */
function gatedFor(cell: ActorCell, now: number): number | undefined {
  const { status, cold } = cell;
  const starts: number[] = [];
  if ((status & AWAITING) !== 0 && cold?.awaiting !== undefined) starts.push(cold.awaiting.startedAt);
  if ((status & FAULT) !== 0 && cold?.failure !== undefined) starts.push(cold.failure.at);
  for (const { since } of cold?.suspensions ?? []) starts.push(since);
  const mutedSince = cell.type.runtime.backPressure.mutedSince(cell);
  if (mutedSince !== undefined) starts.push(mutedSince);
  return starts.length === 0 ? undefined : Math.max(0, now - Math.min(...starts));
}

// Measured on Node 20 with pointer compression off; good to a factor of two.
const CELL_BYTES = 120;
const COLD_STATE_BYTES = 400;
const MESSAGE_BYTES = 12;
const STASHED_BYTES = 40;
const TIMER_BYTES = 120;

function bytesOf(cell: ActorCell, stashed: number): number {
  const { cold, queue } = cell;
  const timers = cold?.timers?.count ?? 0;
  return (
    CELL_BYTES +
    (cold === undefined ? 0 : COLD_STATE_BYTES) +
    queue.length * MESSAGE_BYTES +
    stashed * STASHED_BYTES +
    timers * TIMER_BYTES
  );
}
