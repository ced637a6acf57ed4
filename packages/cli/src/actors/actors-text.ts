import { type ActorView, liveTreeText } from '@troupe/core';
import type { ActorsView, LeaderActors } from '@troupe/jobs';

/** The actors of a process for people: tree, actors that do not run, recent messages, log. */
export function actorsText(actors: ActorsView | LeaderActors, recentMax: number): string[] {
  const { root, stats, recent } = actors;
  const stuck = [...notRunning(root)];
  const tail = recentMax === 0 ? [] : recent.slice(-recentMax);
  return [
    `${stats.actors} actors, ${stats.ready} ready; messages: ${stats.queued} waiting, ${stats.handled} handled, ${stats.deadLetters} dead letters; ${stats.timers} timers`,
    '',
    ...liveTreeText(root).split('\n'),
    ...section('not running', stuck),
    ...section('recent messages, oldest first', tail),
    ...('log' in actors ? section('log', [logText(actors)]) : []),
  ];
}

function* notRunning(view: ActorView): Generator<string> {
  const { path, notRunning: why } = view;
  if (why !== undefined) yield `${path}: ${why.why}`;
  for (const child of view.children) yield* notRunning(child);
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function logText({ log, lsn }: LeaderActors): string {
  const size = (log.bytes / 1_048_576).toFixed(1);
  const facts = [
    `last durable record ${lsn}`,
    `${size} MiB in sealed segments`,
    `read in ${log.replayMs} ms at the start`,
    log.cutBytes === 0 ? '' : `${log.cutBytes} bytes cut at the opening`,
    log.failedSnapshots === 0 ? '' : `${log.failedSnapshots} snapshots failed`,
  ];
  return facts.filter((fact) => fact !== '').join(', ');
}
