const DAY_MS = 86_400_000;

export function count(value: number): string {
  return value.toLocaleString('en');
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
