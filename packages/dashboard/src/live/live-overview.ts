import type { Client, LeaderOverview } from '@troupe/jobs';

const LOOK_MS = 1_000;
const LOOK_WITHIN_MS = 5_000;

/** A change of the overview: the fields that are new, or that the leader is away. */
export type LiveChange =
  | { readonly kind: 'overview'; readonly fields: Partial<LeaderOverview> }
  | { readonly kind: 'away' };

type Listener = (change: LiveChange) => void;

/** Looks at the leader once a second for all pages together, while there is one. */
export class LiveOverview {
  private readonly client: Client;
  private readonly listeners = new Set<Listener>();
  private timer: NodeJS.Timeout | undefined = undefined;
  /** Each field of the last look as JSON. */
  private known = new Map<string, string>();
  private last: LeaderOverview | undefined = undefined;
  private isLooking = false;
  /** The last look had no answer. */
  private isAway = false;

  constructor(client: Client) {
    this.client = client;
  }

  /** Calls the listener with all fields first, then with changes, until the returned function is called. */
  follow(listener: Listener): () => void {
    this.listeners.add(listener);
    if (this.last !== undefined) listener({ kind: 'overview', fields: this.last });
    if (this.isAway) listener({ kind: 'away' });
    if (this.timer === undefined) {
      this.timer = setInterval(() => this.look(), LOOK_MS);
      this.look();
    }
    return () => this.unfollow(listener);
  }

  private unfollow(listener: Listener): void {
    this.listeners.delete(listener);
    if (this.listeners.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
    this.last = undefined;
    this.isAway = false;
    this.known = new Map();
  }

  /** A look that takes longer than a second is not overtaken by the next one. */
  private look(): void {
    if (this.isLooking) return;
    this.isLooking = true;
    this.client
      .overview({ withinMs: LOOK_WITHIN_MS })
      .then(
        (overview) => this.show(overview),
        () => this.showAway(),
      )
      .finally(() => {
        this.isLooking = false;
      });
  }

  private show(overview: LeaderOverview): void {
    // An answer that comes after the last page has left would be the first of the next one, long after.
    if (this.listeners.size === 0) return;
    this.isAway = false;
    this.last = overview;
    this.notify({ kind: 'overview', fields: this.changes(overview) });
  }

  private showAway(): void {
    this.isAway = this.listeners.size > 0;
    this.notify({ kind: 'away' });
  }

  private changes(overview: LeaderOverview): Partial<LeaderOverview> {
    const changed: [string, unknown][] = [];
    for (const [field, value] of Object.entries(overview)) {
      const text = JSON.stringify(value);
      if (this.known.get(field) !== text) changed.push([field, value]);
      this.known.set(field, text);
    }
    return Object.fromEntries(changed);
  }

  private notify(change: LiveChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
