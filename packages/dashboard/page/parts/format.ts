const DAY_MS = 86_400_000;

export function count(value: number): string {
  return value.toLocaleString('en');
}

/** `1 message`, `1,200 messages` */
export function amount(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
}

export function bytes(value: number): string {
  if (value < 1024) return `${value} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let size = value / 1024;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${size.toFixed(size < 10 ? 1 : 0)} ${units[unit]}`;
}

export function time(ms: number): string {
  if (ms === 0) return '–';
  const date = new Date(ms);
  const isOld = Math.abs(Date.now() - ms) > DAY_MS;
  return isOld ? date.toLocaleString('en-GB') : date.toLocaleTimeString('en-GB');
}

/** `in 3 h`, `now` */
export function ahead(ms: number): string {
  const leftMs = ms - Date.now();
  return leftMs < 1_000 ? 'now' : `in ${span(leftMs)}`;
}

/** `950 ms`, `12 s`, `3 min`, `2 h`, `12 d` */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / 3_600_000)} h` : `${count(Math.round(ms / DAY_MS))} d`;
}

/** `0.4 ms`, `12 ms` */
export function milliseconds(ms: number): string {
  return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}

/** A rate: `0.02`, `5.2`, `1,240` */
export function perSecond(rate: number): string {
  if (rate === 0) return '0';
  return rate < 100 ? rate.toFixed(rate < 1 ? 2 : 1) : count(Math.round(rate));
}

/** How long the oldest of many waits; none does at 0. */
export function waiting(ms: number): string {
  return ms === 0 ? '–' : span(ms);
}

/** The length of what the text encodes. */
export function base64Bytes(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}
