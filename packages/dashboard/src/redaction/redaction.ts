import { HttpProblem } from '../problem/http-problem.js';

const SHOWN = '[redacted]';
const DEPTH_MAX = 200;

/**
 * Hides fields of inputs, outputs and chunks. A rule is a name, which hides that field at any depth, or a
 * path from the root such as `card.number` or `users.*.email`.
 */
export class Redaction {
  private readonly names: ReadonlySet<string>;
  private readonly paths: readonly (readonly string[])[];

  constructor(rules: readonly string[]) {
    this.names = new Set(rules.filter((rule) => !rule.includes('.')).map((rule) => rule.toLowerCase()));
    this.paths = rules.filter((rule) => rule.includes('.')).map((rule) => rule.toLowerCase().split('.'));
  }

  get isEmpty(): boolean {
    return this.names.size === 0 && this.paths.length === 0;
  }

  /** The value without its hidden fields. Bytes cannot be searched for fields: they are hidden as a whole. */
  redact(value: unknown): unknown {
    if (this.isEmpty) return value;
    return value instanceof Uint8Array ? SHOWN : this.copy(value, this.paths, 0);
  }

  /** Content that is no JSON value here cannot be searched for fields, and so is not shown. */
  mustBeEmpty(): void {
    if (this.isEmpty) return;
    throw new HttpProblem(
      403,
      'ERR_HTTP_REDACTED',
      'fields are redacted here, and this content cannot be searched for them: it is no JSON or too large',
    );
  }

  private copy(value: unknown, paths: readonly (readonly string[])[], depth: number): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (depth === DEPTH_MAX) return SHOWN;
    if (Array.isArray(value)) return value.map((one, index) => this.field(String(index), one, paths, depth));
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, this.field(name, one, paths, depth)]),
    );
  }

  private field(name: string, value: unknown, paths: readonly (readonly string[])[], depth: number): unknown {
    const plain = name.toLowerCase();
    if (this.names.has(plain)) return SHOWN;
    const further = paths.filter(([first]) => first === '*' || first === plain).map(([, ...rest]) => rest);
    if (further.some((rest) => rest.length === 0)) return SHOWN;
    return this.copy(value, further, depth + 1);
  }
}
