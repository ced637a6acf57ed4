import type { LogEntry } from '@troupe/core';
import { exitFailureOf } from '../error-exit-code.js';
import { ExitCode } from '../exit-code.js';
import type { Terminal } from './terminal.js';

/**
 * Prints why a leader or worker ends: one line, and a stack if the error is unforeseen. Returns the exit
 * code.
 */
export function printCrash(terminal: Terminal, role: string, error: Error): number {
  const failure = exitFailureOf(error);
  terminal.err(`troupe: ${role}: ${failure.message}`);
  if (failure.exitCode === ExitCode.internal) terminal.err(stackOf(error));
  return failure.exitCode;
}

/** One entry of the runtime's log, with the error in it. */
export function logLines(role: string, { level, message, fields }: LogEntry): string[] {
  const line = `${role}: ${level}: ${message}`;
  const error = Object.values(fields).find((value) => value instanceof Error);
  return error === undefined ? [line] : [line, stackOf(error)];
}

/** The stack of an error and of all its causes. */
function stackOf(error: Error): string {
  const own = error.stack ?? error.message;
  return error.cause instanceof Error ? `${own}\ncaused by ${stackOf(error.cause)}` : own;
}
