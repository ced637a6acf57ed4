import type { Measurement } from './suite.js';

/**
 * The report of one process: its samples, and memory, garbage collection and loop delay of the whole process.
 */
export interface ProcessResult {
  readonly samples: readonly Measurement[];
  readonly rssBytes?: number;
  readonly gcShare?: number;
  readonly loopDelayP99?: number;
}

/** Samples are printed as lines, so that a program in any language can be a system. */
export const samplePrefix = '@sample ';
export const processPrefix = '@process ';
export const errorPrefix = '@error ';

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function numberField(record: Record<string, unknown>, name: string): number | undefined {
  const value = record[name];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function extraFields(record: Record<string, unknown>): Record<string, number> {
  const extra: Record<string, number> = {};
  if (!isRecord(record['extra'])) return extra;
  for (const name of Object.keys(record['extra'])) {
    const value = numberField(record['extra'], name);
    if (value !== undefined) extra[name] = value;
  }
  return extra;
}

/** Throws at anything but a sample: programs of peers are outside code. */
export function parseSample(text: string): Measurement {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) throw new TypeError(`a sample is an object, got ${text.slice(0, 80)}`);
  const attempted = numberField(value, 'attempted');
  const completed = numberField(value, 'completed');
  const seconds = numberField(value, 'seconds');
  if (attempted === undefined || completed === undefined || seconds === undefined || seconds <= 0) {
    throw new TypeError(`a sample needs attempted, completed and seconds > 0, got ${text.slice(0, 120)}`);
  }
  const p50 = numberField(value, 'p50');
  const p99 = numberField(value, 'p99');
  const max = numberField(value, 'max');
  const heapBytes = numberField(value, 'heapBytes');
  const pairedRatio = numberField(value, 'pairedRatio');
  return {
    attempted,
    completed,
    seconds,
    ...(typeof value['oracle'] === 'boolean' && { oracle: value['oracle'] }),
    ...(p50 !== undefined && { p50 }),
    ...(p99 !== undefined && { p99 }),
    ...(max !== undefined && { max }),
    ...(heapBytes !== undefined && { heapBytes }),
    ...(pairedRatio !== undefined && { pairedRatio }),
    extra: extraFields(value),
  };
}

export function parseProcess(text: string): Omit<ProcessResult, 'samples'> {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value)) return {};
  const rssBytes = numberField(value, 'rssBytes');
  const gcShare = numberField(value, 'gcShare');
  const loopDelayP99 = numberField(value, 'loopDelayP99');
  return {
    ...(rssBytes !== undefined && { rssBytes }),
    ...(gcShare !== undefined && { gcShare }),
    ...(loopDelayP99 !== undefined && { loopDelayP99 }),
  };
}
