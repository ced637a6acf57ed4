import type { FeedState } from '../../protocol/feed-messages.js';
import type { LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { OpenedFeed } from './fed-job.js';

/** Answers to one client that have not left. A client that keeps to one message a feed never gets here. */
const ANSWERS_MAX = 4_096;

/** The states of feeds on their way to clients: once a turn, the latest of each, where there is room. */
export class FeedReports {
  private readonly context: LeaderParts<'markDirty'>;
  private readonly stateOf: (opened: OpenedFeed) => FeedState;
  /** Clients that do not know the state of a feed. */
  private readonly unreported = new Set<OpenedFeed>();
  /** Answers that have not left, by the client's number of the feed. */
  private readonly answers = new Map<ClientSession, Map<number, FeedState>>();

  constructor(context: FeedReports['context'], stateOf: (opened: OpenedFeed) => FeedState) {
    this.context = context;
    this.stateOf = stateOf;
  }

  changed(opened: OpenedFeed): void {
    this.unreported.add(opened);
  }

  /** A client has one message of a feed under way, so that no answer replaces another. */
  answer(session: ClientSession, state: FeedState): void {
    const answers = this.answers.get(session) ?? new Map<number, FeedState>();
    this.answers.set(session, answers.set(state.feed, state));
    if (answers.size > ANSWERS_MAX) session.endSlowReader();
  }

  /** It is not open any more. */
  forget(opened: OpenedFeed): void {
    this.unreported.delete(opened);
  }

  sessionClosed(session: ClientSession): void {
    this.answers.delete(session);
  }

  flush(): void {
    for (const [session, answers] of this.answers) {
      if (session.isFull) continue;
      this.answers.delete(session);
      this.write(session, [...answers.values()]);
    }
    const states = new Map<ClientSession, FeedState[]>();
    for (const opened of this.unreported) {
      const { session } = opened;
      if (session.isFull) continue;
      this.unreported.delete(opened);
      const items = states.get(session) ?? [];
      items.push(this.stateOf(opened));
      states.set(session, items);
    }
    for (const [session, items] of states) this.write(session, items);
  }

  private write(session: ClientSession, items: readonly FeedState[]): void {
    session.add({ kind: 'feed_states', items });
    this.context.markDirty(session);
  }
}
