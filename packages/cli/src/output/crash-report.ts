import type { LogEntry } from '@troupe/core';
import { ExitCode } from '../exit-code.js';
import { failureOf } from '../failure.js';
import type { Terminal } from './terminal.js';

/** Why a leader or a worker cannot go on: one line, and where it happened if it is a mistake of ours. Gives the exit code. */
export function tellCrash(terminal: Terminal, who: string, error: Error): number {
  const failure = failureOf(error);
  terminal.err(`troupe: ${who}: ${failure.message}`);
  if (failure.exitCode === ExitCode.internal) terminal.err(stackOf(error));
  return failure.exitCode;
}

/** One entry of the runtime's log, with the error in it. */
export function logLines(who: string, { level, message, fields }: LogEntry): string[] {
  const line = `${who}: ${level}: ${message}`;
  const error = Object.values(fields).find((value) => value instanceof Error);
  return error === undefined ? [line] : [line, stackOf(error)];
}

/** With the causes, down to where it began. */
function stackOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\ncaused by ${stackOf(error.cause)}` : own;
}
