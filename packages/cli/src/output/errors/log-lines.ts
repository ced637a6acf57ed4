import type { LogEntry } from '@troupe/core';
import { stackOf } from './error-stack.js';

/** One entry of the runtime's log, with the error in it. */
export function logLines(role: string, { level, message, fields }: LogEntry): string[] {
  const line = `${role}: ${level}: ${message}`;
  const error = Object.values(fields).find((value) => value instanceof Error);
  return error === undefined ? [line] : [line, stackOf(error)];
}
