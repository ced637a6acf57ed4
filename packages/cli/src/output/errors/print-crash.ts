import { exitFailureOf } from '../../error-exit-code.js';
import { ExitCode } from '../../exit-code.js';
import type { Terminal } from '../terminal.js';
import { stackOf } from './error-stack.js';

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
