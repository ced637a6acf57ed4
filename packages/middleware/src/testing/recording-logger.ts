import type { LogLevel } from '@troupe/core';
import type { Logger, LogMethod } from '../logging/logger.js';

export interface RecordedLine {
  readonly level: LogLevel;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface RecordingLogger extends Logger {
  readonly lines: readonly RecordedLine[];
}

/** A logger that keeps its lines in a list. */
export function recordingLogger(): RecordingLogger {
  const lines: RecordedLine[] = [];
  const at =
    (level: LogLevel): LogMethod =>
    (fields, text) => {
      lines.push({ level, fields, text });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
