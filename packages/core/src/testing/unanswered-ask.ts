import type { ActorView } from '../inspect/actor-view.js';
import type { AnyRef } from '../ref/actor-ref.js';
import type { ActorSystem } from '../system.js';
import { UnansweredError } from './testing-errors.js';

const SHOWN_MAX = 20;

/** Asks that wait at a probe. */
export interface UnansweredProbe {
  readonly path: string;
  readonly messages: readonly string[];
}

/** The error of an unanswered ask. It lists actors that are not idle, and probes without an answer. */
export function unansweredError(
  system: ActorSystem,
  target: AnyRef,
  message: string,
  probes: readonly UnansweredProbe[],
): UnansweredError {
  const lines = viewsBelow(system.inspect())
    .filter((view) => view.id === target.id || isBusy(view, probes))
    .map((view) => lineOf(view, probes, view.id === target.id));
  const more = lines.length > SHOWN_MAX ? [`… and ${lines.length - SHOWN_MAX} more`] : [];
  return new UnansweredError(target.path, message, [...lines.slice(0, SHOWN_MAX), ...more]);
}

/** One line for each actor that is not idle. */
export function busyActors(system: ActorSystem): readonly string[] {
  return viewsBelow(system.inspect())
    .filter((view) => isBusy(view, []))
    .map((view) => lineOf(view, [], false))
    .slice(0, SHOWN_MAX);
}

function isBusy(view: ActorView, probes: readonly UnansweredProbe[]): boolean {
  return view.activity !== 'idle' || view.stashed > 0 || owedBy(view, probes).length > 0;
}

function lineOf(view: ActorView, probes: readonly UnansweredProbe[], isTarget: boolean): string {
  const owed = owedBy(view, probes);
  const stashed = view.stashed > 0 ? [`${view.stashed} messages stashed`] : [];
  const answers = owed.map((message) => `no answer to ${message}: call probe.answer.${message}(…)`);
  const isLater = isTarget && view.activity === 'idle' && stashed.length + owed.length === 0;
  const later = isLater ? ['it has handled the message and owes its reply (`ctx.later`)'] : [];
  const phase = view.phase === undefined ? '' : ` in ${view.phase}`;
  return `${view.path} (${view.actor}${phase}): ${[view.activity, ...stashed, ...answers, ...later].join('; ')}`;
}

function owedBy(view: ActorView, probes: readonly UnansweredProbe[]): readonly string[] {
  return probes.find((probe) => probe.path === view.path)?.messages ?? [];
}

function viewsBelow(view: ActorView): readonly ActorView[] {
  return view.children.flatMap((child) => [child, ...viewsBelow(child)]);
}
