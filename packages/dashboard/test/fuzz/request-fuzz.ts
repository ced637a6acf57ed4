import type { Dashboard } from '@troupe/dashboard';
import { allRoutes, type RouteParts } from '#src/routes/all-routes.js';
import { JobDefinitions } from '#src/routes/job/job-definitions.js';

/** As data: none of them is served here. */
export const ROUTES = allRoutes({ jobs: new JobDefinitions([]) } as Partial<RouteParts> as RouteParts);

/** Texts that have broken servers. */
const HOSTILE = [
  '',
  '0',
  '-1',
  '1e309',
  'NaN',
  '../../etc/passwd',
  '%2e%2e%2f',
  '%00',
  '%',
  '%ff%fe',
  'a'.repeat(3_000),
  '<script>alert(1)</script>',
  "'; drop table jobs; --",
  '{{7*7}}',
  '__proto__',
  'constructor',
  'toString',
  '\u202e\u0000\ud800',
  'é'.repeat(50),
  'true',
  'null',
  '[]',
  '{"__proto__":{"x":1}}',
  '9007199254740993',
  '99999999999999999999999',
  '1:5',
  '1h',
  'dead',
];

const HEADERS = [
  ['accept', 'text/event-stream'],
  ['accept', '*/*;q=x'],
  ['authorization', 'Bearer '],
  ['authorization', `Basic ${'x'.repeat(600)}`],
  ['content-type', 'application/xml'],
  ['content-type', 'multipart/form-data; boundary='],
  ['content-encoding', 'gzip'],
  ['cookie', 'troupe_session=x; troupe_session=y'],
  ['cookie', `troupe_session=${'z'.repeat(2_000)}`],
  ['last-event-id', '1:99999999999999999'],
  ['origin', 'null'],
  ['origin', 'http://evil.example'],
  ['range', 'bytes=-1'],
  ['sec-fetch-site', 'cross-site'],
  ['x-csrf-token', 'x'],
  ['x-forwarded-host', 'evil.example'],
] as const;

export interface FuzzReport {
  readonly requests: number;
  /** Answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
}

/**
 * Gives a gateway mutated requests of all its routes, until told to stop. Throws at the first answer that is a
 * failure of the gateway (500), or a refusal that is no problem+json.
 */
export async function fuzzRequests(
  { fetch }: Dashboard,
  seed: number,
  ids: readonly string[],
  isOver: (requests: number) => boolean,
): Promise<FuzzReport> {
  const maker = new RequestMaker(seed, ids);
  const statuses: Record<string, number> = {};
  let requests = 0;
  for (; !isOver(requests); requests += 1) {
    const { request, text, stop } = maker.next();
    const answer = await fetch(request, { remote: `10.0.${requests % 250}.${(requests >> 8) % 250}` });
    statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
    const type = answer.headers.get('content-type') ?? '';
    const problem = problemOf(answer.status, type);
    if (problem !== undefined) throw new Error(`seed ${seed}, request ${requests}: ${problem}: ${text}`);
    stop.abort();
    await answer.body?.cancel().catch(() => undefined);
  }
  return { requests, statuses };
}

function problemOf(status: number, type: string): string | undefined {
  if (status === 500) return 'the gateway failed';
  if (type.startsWith('text/html') && status !== 200) return 'a refusal as HTML';
  const isJobEnd = status === 410 || status === 422 || status === 503;
  if (status < 400 || isJobEnd || type === 'application/problem+json' || status === 499) return undefined;
  return `${status} as ${type}`;
}

interface MadeRequest {
  readonly request: Request;
  readonly text: string;
  readonly stop: AbortController;
}

class RequestMaker {
  private state: number;
  private readonly ids: readonly string[];

  constructor(seed: number, ids: readonly string[]) {
    this.state = seed >>> 0 || 1;
    this.ids = ids;
  }

  next(): MadeRequest {
    const route = this.pick(ROUTES);
    const method = this.chance(0.85)
      ? route.method.toUpperCase()
      : this.pick(['PUT', 'PATCH', 'OPTIONS', 'HEAD', 'DELETE']);
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => encodeText(this.pathText(name)));
    const query = new URLSearchParams();
    const names = (route.parameters ?? []).filter(({ in: place }) => place === 'query');
    // A route with many parameters is to be reached too: most of these values are refused.
    for (const { name } of names)
      if (this.chance(Math.min(0.4, 1 / names.length))) query.append(name, this.hostile());
    // A short wait: a long one is allowed, and holds up the rest.
    if (query.has('within')) query.set('within', this.pick(['0', '1ms', '5ms', '-1', '1y', 'x']));
    if (this.chance(0.05)) query.append(this.hostile() || 'x', this.hostile());
    const url = `http://localhost${path}${query.size === 0 ? '' : `?${query}`}`;
    const headers = new Headers({ host: this.chance(0.97) ? 'localhost' : 'evil.example' });
    for (let n = this.count(3); n > 0; n -= 1) {
      const [name, value] = this.pick<readonly [string, string]>(HEADERS);
      headers.set(name, value);
    }
    const hasBody = method !== 'GET' && method !== 'HEAD';
    const body = hasBody ? this.body() : undefined;
    const stop = new AbortController();
    const init = { method, headers, signal: stop.signal, ...(body === undefined ? {} : { body }) };
    return { request: new Request(url, init), text: `${method} ${url} ${String(body).slice(0, 200)}`, stop };
  }

  private pathText(name: string): string {
    if (name === 'id') return this.chance(0.6) ? this.pick(this.ids) : this.hostile() || 'x';
    return this.chance(0.5) ? this.pick(['sample.echo', 'nightly', 'w1']) : this.hostile() || 'x';
  }

  private body(): string {
    const value = (): unknown =>
      this.pick<unknown>([
        1,
        -1,
        null,
        true,
        {},
        [],
        'x',
        this.hostile(),
        this.ids,
        [this.hostile()],
        { a: this.hostile() },
      ]);
    const names = [
      'ids',
      'item',
      'final',
      'reason',
      'exec',
      'cron',
      'everyMs',
      'token',
      'input',
      'zone',
      'overlap',
      this.hostile(),
    ];
    const fields = Object.fromEntries(
      Array.from({ length: this.count(4) }, () => [this.pick(names), value()]),
    );
    const text = JSON.stringify(this.chance(0.7) ? fields : value());
    if (this.chance(0.1)) return text.slice(0, -1);
    return this.chance(0.05) ? '['.repeat(20_000) : text;
  }

  private hostile(): string {
    return this.pick(HOSTILE);
  }

  private pick<T>(all: readonly T[]): T {
    return all[this.count(all.length)] as T; // below the length
  }

  private chance(share: number): boolean {
    return this.random() < share;
  }

  /** From 0 to below the limit. */
  private count(below: number): number {
    return Math.floor(this.random() * below);
  }

  /** A linear congruential generator: the same seed makes the same requests. */
  private random(): number {
    this.state = (Math.imul(this.state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.state / 2 ** 32;
  }
}

/** Lone surrogates have no encoding. */
function encodeText(text: string): string {
  return encodeURIComponent(text.replaceAll(/[\ud800-\udfff]/g, ''));
}
