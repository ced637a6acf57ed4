import type { Message, OutsideAct, Step, WaitHistory } from './wait-history.js';

/** A history for people: one line per act and step. */
export function historyText({ seed, kind, actors, acts }: WaitHistory): string {
  return [
    `seed ${seed}, ${kind} waits`,
    ...actors.map(
      (plan, at) => `  ${at}: ${plan.kind}, capacity ${plan.capacity}, throughput ${plan.throughput}`,
    ),
    ...acts.flatMap(linesOfAct),
  ].join('\n');
}

function linesOfAct(act: OutsideAct): string[] {
  if ('message' in act)
    return [`  at ${act.at}: ${act.act} ${act.message.to}`, ...linesOf(act.message, '    ')];
  return [`  at ${act.at}: ${act.act} ${act.actor}${act.act === 'suspend' ? ` for ${act.ms} ms` : ''}`];
}

function linesOf({ steps, reply }: Message, indent: string): string[] {
  const replies =
    reply.by === 'result'
      ? []
      : reply.by === 'timer'
        ? [`${indent}reply after ${reply.ms} ms`]
        : [`${indent}reply by ask ${reply.message.to}`, ...linesOf(reply.message, `${indent}  `)];
  return [...steps.flatMap((step) => linesOfStep(step, indent)), ...replies];
}

function linesOfStep(step: Step, indent: string): string[] {
  const { does, ...rest } = step;
  if (!('message' in rest)) return [`${indent}${does} ${Object.values(rest).join(' ')}`];
  const { message, ...more } = rest;
  const facts = Object.entries(more).map(([key, value]) => `${key} ${value}`);
  return [`${indent}${does} ${message.to} (${facts.join(', ')})`, ...linesOf(message, `${indent}  `)];
}
