import { badInput } from '../problem/http-problem.js';

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d{1,15})(ms|s|m|h)?$/;

/** Parameters of the path and of the query. An unknown one is refused, so that a typing error shows. */
export class RequestParameters {
  private readonly path: Readonly<Record<string, string>>;
  private readonly query: URLSearchParams;

  constructor(path: Readonly<Record<string, string>>, query: URLSearchParams, known: ReadonlySet<string>) {
    this.path = path;
    this.query = query;
    for (const name of query.keys())
      if (!known.has(name)) throw badInput(`query: there is no parameter ${JSON.stringify(name)} here`);
  }

  inPath(name: string): string {
    return this.path[name] as string; // the router has matched the path
  }

  text(name: string, lengthMax = 512): string | undefined {
    const value = this.query.get(name);
    if (value !== null && value.length > lengthMax)
      throw badInput(`${name}: longer than ${lengthMax} characters`);
    return value ?? undefined;
  }

  /** Every value of a parameter that may be given several times. */
  texts(name: string, countMax: number): readonly string[] {
    const values = this.query.getAll(name);
    if (values.length > countMax) throw badInput(`${name}: given more than ${countMax} times`);
    return values;
  }

  count(name: string, least: number, most: number): number | undefined {
    const value = this.query.get(name);
    if (value === null) return undefined;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw badInput(`${name}: needed a whole number from ${least} to ${most}, got ${JSON.stringify(value)}`);
  }

  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.query.get(name);
    if (value === null) return undefined;
    const chosen = choices.find((choice) => choice === value);
    if (chosen !== undefined) return chosen;
    throw badInput(`${name}: needed ${choices.join(', ')}, got ${JSON.stringify(value)}`);
  }

  /** Milliseconds: `500ms`, `2s`, `1m`, or a number of milliseconds. */
  duration(name: string, mostMs: number): number | undefined {
    const value = this.query.get(name);
    if (value === null) return undefined;
    const [, amount, unit = 'ms'] = DURATION.exec(value) ?? [];
    const ms = Number(amount) * (UNITS_MS[unit] as number); // the pattern has these units only
    if (ms <= mostMs) return ms;
    throw badInput(
      `${name}: needed a duration such as 500ms, 2s or 1m, at most ${mostMs} ms, got ${JSON.stringify(value)}`,
    );
  }
}
