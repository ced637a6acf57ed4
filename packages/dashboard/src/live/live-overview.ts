import type { Client, LeaderOverview } from '@troupe/jobs';
import { FieldChanges } from './field-changes.js';

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
  private changes = new FieldChanges();
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
    this.changes = new FieldChanges();
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
    this.notify({ kind: 'overview', fields: this.changes.next(overview).fields });
  }

  private showAway(): void {
    this.isAway = this.listeners.size > 0;
    this.notify({ kind: 'away' });
  }

  private notify(change: LiveChange): void {
    for (const listener of this.listeners) listener(change);
  }
}
