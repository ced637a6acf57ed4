const SHOWN_MAX = 200;

/** A short text for any value; proxies that throw and huge strings included. */
export function describe(value: unknown): string {
  try {
    if (typeof value === 'string') return JSON.stringify(value.slice(0, SHOWN_MAX));
    if (typeof value === 'bigint') return `${String(value).slice(0, SHOWN_MAX)}n`;
    if (typeof value === 'function') return `function ${value.name.slice(0, SHOWN_MAX)}`;
    if (typeof value !== 'object' || value === null) return String(value);
    if (Array.isArray(value)) return `an array of ${value.length}`;
    return `an object with ${Object.keys(value).slice(0, 5).join(', ').slice(0, SHOWN_MAX) || 'no keys'}`;
  } catch {
    return 'a value that cannot be shown';
  }
}
