import type { RunReport } from './history-run.js';
import type { SentMessage } from './message-ledger.js';
import { type Message, messagesOf, routeesOf, type WaitHistory } from './wait-history.js';

/** Everything in a run that breaks the rule of back-pressure; empty when the rule held. */
export function problemsOf(report: RunReport): string[] {
  return [
    ...report.messages.flatMap((message) => lostOrDoubled(message, report.history)),
    ...report.leftBusy.map((actor) => `left waiting: ${actor}`),
    ...report.baselessRefusals.map((refusal) => `refused without a cycle of asks and sends: ${refusal}`),
    ...unexpectedReleases(report),
    ...longMailboxes(report),
  ];
}

function lostOrDoubled(message: SentMessage, { actors }: WaitHistory): string[] {
  const { handled, letters, how, outcome } = message;
  const problems: string[] = [];
  const isRefused = outcome instanceof Error;
  const ended = handled + letters.length;
  // A timer may have ended with its incarnation before it sent.
  if (how === 'tell' && ended === 0) problems.push('neither handled nor a dead letter');
  if (how === 'ask' && ended === 0 && !isRefused) problems.push('neither handled nor refused');
  if (how === 'send' && outcome === 'resolved' && ended === 0) problems.push('accepted and lost');
  if (how === 'send' && isRefused && ended > 0) problems.push('refused and delivered');
  if ((how === 'ask' || how === 'send') && outcome === 'pending') problems.push(`the ${how} never settled`);
  if (letters.includes('overloaded')) problems.push('refused at the hard limit, which is out of reach');
  // A pull pool assigns the work of a worker that ended to another.
  const mayRunTwice = actors[message.script.to]?.kind === 'pull-pool';
  if (!mayRunTwice && ended > 1) problems.push(`handled ${handled} times, dead letters ${letters.join(' ')}`);
  return problems.map((problem) => `${message}: ${problem}`);
}

function unexpectedReleases({ history, stuck }: RunReport): string[] {
  return history.kind === 'outside' ? [] : stuck.map((path) => `released by time: ${path}`);
}

/**
 * Where all messages go upward no receiver waits for its sender, so every sender is muted: a mailbox has at
 * most its capacity, the sends of one message of each sender, and messages that no mute holds back, which are
 * those of outside code and timers and those that leave the stash.
 */
function longMailboxes({ history, messages, depths }: RunReport): string[] {
  if (history.kind !== 'upward') return [];
  return history.actors.flatMap(({ kind, capacity }, actor) => {
    if (kind === 'router') return [];
    const own = messages.filter((m) => receiversOf(history, m.script.to).includes(actor));
    const unmuted = own.filter(({ from, how }) => from < 0 || how === 'timer').length;
    const stashed = own.filter((m) => m.stashed > 0).length;
    const max = capacity + burstsTo(history, messages, actor) + unmuted + 2 * stashed;
    const depth = depths[actor] as number;
    return depth <= max
      ? []
      : [`actor ${actor} had ${depth} messages in its mailbox, at most ${max} fit the rule`];
  });
}

/** The sum over all sending actors of the most messages that one of their messages sends to that actor. */
function burstsTo(history: WaitHistory, messages: readonly SentMessage[], actor: number): number {
  const largest = history.actors.map(() => 0);
  for (const { script } of messages) {
    const burst = burstOf(history, script, actor);
    for (const sender of receiversOf(history, script.to))
      largest[sender] = Math.max(largest[sender] as number, burst);
  }
  return largest.reduce((sum, burst, sender) => sum + burst * sendersIn(history, sender), 0);
}

function burstOf(history: WaitHistory, script: Message, actor: number): number {
  return messagesOf(script)
    .filter(({ message }) => receiversOf(history, message.to).includes(actor))
    .reduce((sum, { count }) => sum + count, 0);
}

/** Each worker of a pool is a sender of its own. */
function sendersIn({ actors }: WaitHistory, actor: number): number {
  return actors[actor]?.kind === 'pull-pool' ? 2 : 1;
}

function receiversOf(history: WaitHistory, to: number): number[] {
  return history.actors[to]?.kind === 'router' ? routeesOf(history.actors, to) : [to];
}
