import type { SystemReport } from '../system.js';

const CAUSES_MAX = 8;

/** The end of a system that a failure has stopped, for people. */
export function failedSystemText({ system, cause, messageHistory, unfinished }: SystemReport): string {
  return [
    `A failure has stopped system ${system}, and no code has looked at \`system.whenStopped\`:`,
    ...stacksOf(cause),
    ...listOf('Messages before it:', messageHistory),
    ...listOf(
      'Not finished at its end:',
      unfinished.map(({ phase, name, why }) => `${phase}: ${name} ${why}`),
    ),
  ].join('\n');
}

function stacksOf(failure: unknown): string[] {
  const stacks: string[] = [];
  let next = failure;
  while (next instanceof Error && stacks.length < CAUSES_MAX) {
    const text = next.stack ?? String(next);
    stacks.push(stacks.length === 0 ? text : `Caused by: ${text}`);
    next = next.cause;
  }
  return stacks;
}

function listOf(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}
