import type { LogLevel } from '@troupe/core';
import type { Sink, SinkLine } from '../logging/sink.js';

export interface RecordedLine {
  readonly level: LogLevel;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly text: string;
}

export interface RecordingSink extends Sink {
  readonly lines: readonly RecordedLine[];
}

/** A sink that keeps its lines in a list. */
export function recordingSink(): RecordingSink {
  const lines: RecordedLine[] = [];
  const at =
    (level: LogLevel): SinkLine =>
    (fields, text) => {
      lines.push({ level, fields, text });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
