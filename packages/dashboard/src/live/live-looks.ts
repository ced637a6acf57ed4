import { type Changes, FieldChanges } from './field-changes.js';

/** A change of an answer that pages follow. */
export interface LookChange extends Changes {
  readonly kind: 'look';
  readonly path: string;
  readonly status: number;
  /** The fields are all there are: the first event of a page, or of another status. */
  readonly isWhole: boolean;
}

export type LookListener = (change: LookChange) => void;

/** The answer to a GET request for the path; never rejects. */
export type LookAt = (path: string, signal: AbortSignal) => Promise<Response>;

/** Looks at each path that pages follow: once for all of them, again after its time. They get changes. */
export class LiveLooks {
  private readonly lookAt: LookAt;
  private readonly byPath = new Map<string, FollowedPath>();

  constructor(lookAt: LookAt) {
    this.lookAt = lookAt;
  }

  /** Calls the listener with the whole answer, then with changes, until the returned function is called. */
  follow(path: string, everyMs: number, listener: LookListener): () => void {
    const followed = this.byPath.get(path) ?? new FollowedPath(path, everyMs, this.lookAt);
    this.byPath.set(path, followed);
    followed.add(listener);
    return () => {
      if (followed.remove(listener) && this.byPath.get(path) === followed) this.byPath.delete(path);
    };
  }

  /** After a change by this gateway: pages show it before the next look is due. */
  lookAgain(): void {
    for (const followed of this.byPath.values()) followed.hasten();
  }
}

const HASTE_MS = 100;

class FollowedPath {
  private readonly path: string;
  private readonly everyMs: number;
  private readonly lookAt: LookAt;
  private readonly listeners = new Set<LookListener>();
  private readonly stop = new AbortController();
  private changes = new FieldChanges();
  private last: { readonly status: number; readonly value: object } | undefined = undefined;
  private timer: NodeJS.Timeout | undefined = undefined;
  private isLooking = false;
  /** A change was made since the last look began. */
  private isDue = false;

  constructor(path: string, everyMs: number, lookAt: LookAt) {
    this.path = path;
    this.everyMs = everyMs;
    this.lookAt = lookAt;
  }

  add(listener: LookListener): void {
    this.listeners.add(listener);
    if (this.last !== undefined) listener(this.whole(this.last.status, this.last.value));
    else if (!this.isLooking) this.look();
  }

  /** Whether it was the last one. */
  remove(listener: LookListener): boolean {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return false;
    clearTimeout(this.timer);
    this.stop.abort();
    return true;
  }

  /** After a change: at most ten times a second, however many changes there are. */
  hasten(): void {
    if (this.isDue) return;
    this.isDue = true;
    // The answer of a look that is under way may be older than the change.
    if (!this.isLooking) this.schedule();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), this.isDue ? HASTE_MS : this.everyMs);
  }

  /** The next look begins after the answer: answers neither overtake each other nor pile up. */
  private look(): void {
    this.isDue = false;
    this.isLooking = true;
    void this.see().then(() => {
      this.isLooking = false;
      if (!this.stop.signal.aborted) this.schedule();
    });
  }

  private async see(): Promise<void> {
    const answer = await this.lookAt(this.path, this.stop.signal);
    if (this.stop.signal.aborted) return;
    const { status } = answer;
    const value = (await answer.json()) as object; // every route that can be followed answers with an object
    const isWhole = this.last?.status !== status;
    if (isWhole) this.changes = new FieldChanges();
    this.last = { status, value };
    const changes = this.changes.next(value);
    if (!isWhole && Object.keys(changes.fields).length + changes.gone.length === 0) return;
    for (const listener of this.listeners)
      listener({ kind: 'look', path: this.path, status, isWhole, ...changes });
  }

  private whole(status: number, value: object): LookChange {
    return {
      kind: 'look',
      path: this.path,
      status,
      isWhole: true,
      fields: value as LookChange['fields'],
      gone: [],
    };
  }
}
