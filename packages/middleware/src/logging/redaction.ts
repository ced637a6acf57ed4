import { truncateError } from '../truncate-error.js';

const REDACTED = '[redacted]';
const CUT = '[…]';
const DEPTH_MAX = 6;
const ENTRIES_MAX = 50;
const TEXT_MAX = 500;

/**
 * Copies payloads for the log: listed fields are replaced, and deep, long or large values are cut, so that a
 * line stays short. A name (`password`) is redacted at any depth; a path (`card.number`, `*.token`) only at
 * that path, counted from the payload itself.
 */
export class Redaction {
  private readonly names = new Set<string>();
  private readonly paths: readonly (readonly string[])[];

  constructor(list: readonly string[]) {
    const paths: string[][] = [];
    for (const entry of list) {
      if (entry.includes('.')) paths.push(entry.split('.'));
      else this.names.add(entry);
    }
    this.paths = paths;
  }

  copyOf(value: unknown): unknown {
    try {
      return this.copy(value, []);
    } catch {
      return '[a value that cannot be read]';
    }
  }

  private copy(value: unknown, path: readonly string[]): unknown {
    if (typeof value === 'string')
      return value.length > TEXT_MAX ? `${value.slice(0, TEXT_MAX)}${CUT}` : value;
    if (typeof value === 'function') return `[function ${value.name}]`;
    if (typeof value === 'symbol') return String(value);
    if (value instanceof Error) return truncateError(value);
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Date) return value.toISOString();
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if (path.length >= DEPTH_MAX) return CUT;
    if (Array.isArray(value)) {
      const items = value.slice(0, ENTRIES_MAX).map((item, i) => this.copy(item, [...path, String(i)]));
      return value.length > ENTRIES_MAX ? [...items, CUT] : items;
    }
    return this.copyObject(value, path);
  }

  private copyObject(value: object, path: readonly string[]): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    const keys = Object.keys(value);
    for (const key of keys.slice(0, ENTRIES_MAX)) {
      const keyPath = [...path, key];
      copy[key] = this.isSecret(key, keyPath)
        ? REDACTED
        : this.copy((value as Record<string, unknown>)[key], keyPath);
    }
    if (keys.length > ENTRIES_MAX) copy[CUT] = keys.length - ENTRIES_MAX;
    return copy;
  }

  private isSecret(key: string, path: readonly string[]): boolean {
    if (this.names.has(key)) return true;
    return this.paths.some(
      (secret) =>
        secret.length === path.length && secret.every((part, i) => part === '*' || part === path[i]),
    );
  }
}
