// Values with their units. The unit of an option is in its name: docs/style.md, "Units and bounds come last".

/** @typedef {'ms' | 'bytes' | undefined} Unit */

/** @param {string} option @returns {Unit} */
export function unitOf(option) {
  const name = option.split('.').at(-1) ?? '';
  if (/PerSecond/.test(name)) return undefined;
  if (/(^ms|Ms)(Max|Min)?$/.test(name)) return 'ms';
  if (/(^bytes|Bytes)/.test(name)) return 'bytes';
  return undefined;
}

/** @type {Readonly<Record<'ms' | 'bytes', readonly (readonly [number, string])[]>>} */
const scales = {
  ms: [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
    [1, 'ms'],
  ],
  bytes: [
    [2 ** 30, 'GiB'],
    [2 ** 20, 'MiB'],
    [2 ** 10, 'KiB'],
    [1, 'B'],
  ],
};

/** @param {unknown} value @param {Unit} unit @returns {string} */
export function valueText(value, unit) {
  if (typeof value === 'string') return `\`'${value}'\``;
  if (Array.isArray(value))
    return value.length === 0 ? 'none' : value.map((one) => valueText(one, unit)).join(', ');
  if (typeof value !== 'number') return `\`${String(value)}\``;
  if (value === Number.POSITIVE_INFINITY) return 'no limit';
  if (unit === undefined || value === 0) return value.toLocaleString('en-US', { maximumFractionDigits: 6 });
  const [size, name] = scales[unit].find(([size]) => value % size === 0) ?? [1, unit];
  return `${(value / size).toLocaleString('en-US')} ${name}`;
}
