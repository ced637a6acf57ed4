import { ApiError, call, type Overview } from './api.js';

const RETRY_MS = 1_000;

/** An answer of the API that a view follows. */
export interface LookListener {
  readonly onValue: (value: unknown) => void;
  readonly onProblem: (problem: ApiError) => void;
}

export interface OverviewListener {
  /** `isFirst`: of a connection. It may be as old as a second, where other pages have the gateway look. */
  readonly onLook: (overview: Overview, isFirst: boolean) => void;
  readonly onAway: () => void;
}

interface LookEvent {
  readonly path: string;
  readonly status: number;
  readonly isWhole: boolean;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly gone: readonly string[];
}

/**
 * The one connection of the page. It carries the overview and the answers that the views follow, as changes; another
 * view is another address of it. It connects again for ever: the browser does that too, but gives up for good where the
 * answer is an error, as that of a proxy whose gateway is away.
 */
export class LiveConnection {
  private readonly looks = new Map<string, Set<LookListener>>();
  private overviewListener: OverviewListener | undefined = undefined;
  private source: EventSource | undefined = undefined;
  private address = '';
  private timer: number | undefined = undefined;

  /** Until the returned function is called. */
  followOverview(listener: OverviewListener): () => void {
    this.overviewListener = listener;
    this.connectSoon();
    return () => {
      this.overviewListener = undefined;
      this.connectSoon();
    };
  }

  followLook(path: string, listener: LookListener): () => void {
    const listeners = this.looks.get(path) ?? new Set();
    this.looks.set(path, listeners.add(listener));
    this.connectSoon();
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.looks.delete(path);
      this.connectSoon();
    };
  }

  /** A view that goes and one that comes are one change. */
  private connectSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect());
  }

  private connect(): void {
    const query = new URLSearchParams([...this.looks.keys()].sort().map((path) => ['look', path]));
    const address =
      this.overviewListener === undefined ? '' : `/api/live${query.size === 0 ? '' : `?${query}`}`;
    if (address === this.address && this.source?.readyState !== EventSource.CLOSED) return;
    this.source?.close();
    this.address = address;
    this.source = address === '' ? undefined : this.open(address);
  }

  private open(address: string): EventSource {
    const source = new EventSource(address);
    let overview: Overview | undefined;
    const answers = new Map<string, Readonly<Record<string, unknown>>>();
    source.onopen = () => {
      overview = undefined;
    };
    source.addEventListener('overview', ({ data }: MessageEvent<string>) => {
      const isFirst = overview === undefined;
      overview = { ...overview, ...(JSON.parse(data) as Partial<Overview>) } as Overview; // the first event has every field
      this.overviewListener?.onLook(overview, isFirst);
    });
    source.addEventListener('away', () => this.overviewListener?.onAway());
    source.addEventListener('look', ({ data }: MessageEvent<string>) => {
      const event = JSON.parse(data) as LookEvent;
      const answer = merged(event, answers.get(event.path));
      answers.set(event.path, answer);
      this.show(event, answer);
    });
    source.onerror = () => {
      this.overviewListener?.onAway();
      if (source.readyState !== EventSource.CLOSED || source !== this.source) return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.connect(), RETRY_MS);
      // The session may be over: that answer asks for a token.
      call('GET', '/api/session').catch(() => undefined);
    };
    return source;
  }

  private show({ path, status }: LookEvent, answer: Readonly<Record<string, unknown>>): void {
    for (const listener of this.looks.get(path) ?? []) {
      if (status < 400) listener.onValue(answer);
      else listener.onProblem(new ApiError(status, String(answer['title']), String(answer['detail'])));
    }
  }
}

function merged(
  { isWhole, fields, gone }: LookEvent,
  before: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  if (isWhole) return fields;
  const left = Object.entries(before).filter(([name]) => !gone.includes(name));
  return { ...Object.fromEntries(left), ...fields };
}

export const liveConnection = new LiveConnection();
