import type { ActorSystem, ActorView, SystemStats } from '@troupe/core';
import type { LogUse } from './admin-messages.js';

/** The actors of a process at one moment. */
export interface ActorsView {
  /** The tree, with why each actor is not running. */
  readonly root: ActorView;
  /** Counts of actors, messages and timers. */
  readonly stats: SystemStats;
  /** The tail of the flight recorder, oldest first: `sender → receiver.message`. */
  readonly recent: readonly string[];
}

/** The actors of a leader, and its log. */
export interface LeaderActors extends ActorsView {
  /** Size, reading time and snapshots of the log. */
  readonly log: LogUse;
  /** The last durable record. */
  readonly lsn: number;
}

/** A leader has an actor for every connection: the rest is a number. */
const CHILDREN_MAX = 100;
const LEVELS_MAX = 8;
const RECENT_MAX = 100;

export function viewActors(system: ActorSystem): ActorsView {
  return {
    root: system.inspect({ levels: LEVELS_MAX, childrenMax: CHILDREN_MAX }),
    stats: system.stats(),
    recent: system.lastMessages(RECENT_MAX),
  };
}
