import { InvalidArgumentError } from 'commander';

/** The longest duration accepted: more is a mistake in the unit. */
export const YEAR_MS = 366 * 24 * 3_600_000;

/** The longest time a timer can wait. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** A parser for an option that is a whole number. */
export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < from || value > to)
      throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
    return value;
  };
}

const DURATION_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A parser for a time: 500ms, 1s, 1.5s, 2m, 3h, 14d; a plain number is milliseconds. */
export function duration(fromMs: number, toMs: number): (text: string) => number {
  return (text) => {
    const [, digits, unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
    const ms = Number(digits) * (DURATION_UNITS[unit] ?? 1);
    if (digits === undefined || !Number.isInteger(ms) || ms < fromMs || ms > toMs)
      throw new InvalidArgumentError(
        `It must be a time such as 500ms, 1s or 2m (a plain number is milliseconds), from ${fromMs} to ${toMs} ms.`,
      );
    return ms;
  };
}

/** An instant: a date with its time, in milliseconds since 1970. Without a zone it is local time. */
export function dateTime(text: string): number {
  const at = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be a date such as 2026-11-18T10:00Z.');
  return at;
}

/** As an option takes it, exactly: `90s`, `5m`, `1500ms`. */
export function durationText(ms: number): string {
  const unit = ['d', 'h', 'm', 's'].find((one) => ms > 0 && ms % (DURATION_UNITS[one] ?? 1) === 0) ?? 'ms';
  return `${ms / (DURATION_UNITS[unit] ?? 1)}${unit}`;
}

/** An address of PostgreSQL. The driver checks the rest of it. */
export function postgresUrl(text: string): string {
  if (/^postgres(ql)?:\/\/\S+$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an address such as postgres://user@host:5432/database.');
}

const UNITS: Readonly<Record<string, number>> = { '': 1, k: 1_024, m: 1_024 ** 2, g: 1_024 ** 3 };

/** Bytes, as 4096, 512k, 16m or 1g. */
export function byteCount(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([kmg]?)$/i.exec(text) ?? [];
  if (digits === undefined || Number(digits) === 0)
    throw new InvalidArgumentError('It must be bytes above 0, such as 4096, 512k, 16m or 1g.');
  return Number(digits) * (UNITS[unit.toLowerCase()] ?? 1);
}

export function share(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1)) throw new InvalidArgumentError('It must be a number above 0, at most 1.');
  return value;
}
