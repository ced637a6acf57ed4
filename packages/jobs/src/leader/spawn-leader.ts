import { type ActorRef, type ActorSystem, createSystem, type Host, type Middleware } from '@troupe/core';
import { nodeStorage, type WalEvent, type WalOptions } from '@troupe/wal';
import { logWalEvent } from '../journal/wal-event-log.js';
import { walJournal } from '../journal/wal-journal.js';
import type { Defaulted } from '../option-check.js';
import { type ActorsView, viewActors } from '../protocol/client/actors-view.js';
import { fileSpill } from '../spill/file-spill.js';
import type { LeaderJournal, OpenSpill } from '../spill/spill.js';
import type { JobsObserver } from './jobs-event.js';
import { LeaderActor } from './leader-actor.js';
import type { LeaderLimits, LeaderTimes } from './options/leader-limits.js';

/** The options of every leader, embedded or over the network. */
export interface LeaderStartOptions {
  /**
   * The folder of the log. One leader at a time: a second one is refused. Default: none; give this or
   * `journal`.
   */
  readonly dir?: string | undefined;
  /** Another log in place of the folder. */
  readonly journal?: LeaderJournal | undefined;
  /**
   * Another place for chunks of streams that have no room in memory. Default: files in `dir`; with `journal`
   * alone, that of the journal, if it has one.
   */
  readonly spill?: OpenSpill | undefined;
  /** Bounds of its tables. */
  readonly limits?: Defaulted<LeaderLimits> | undefined;
  /** Heartbeats, grace periods, the tick. */
  readonly times?: Defaulted<LeaderTimes> | undefined;
  /**
   * The labels that jobs may require: a definition, a submit or a schedule that requires another is refused.
   * Default: any.
   */
  readonly labels?: readonly string[] | undefined;
  /** Options of the log in `dir`. */
  readonly wal?: Omit<WalOptions, 'dir' | 'storage' | 'onFatal'> | undefined;
  /** Called for every event of jobs and workers, in the leader's turn: it must be quick. */
  readonly observe?: JobsObserver | undefined;
  /** Of its actor system: telemetry, logging. */
  readonly middleware?: readonly Middleware[] | undefined;
}

export interface SpawnedLeader {
  readonly system: ActorSystem;
  readonly leader: ActorRef<typeof LeaderActor>;
}

/**
 * A system of its own with a leader in it. The leader is never restarted in place: its state must come from
 * the disk, which this process has locked.
 */
export function spawnLeader(
  name: string,
  { dir, journal, spill, limits, times, labels, wal, observe, middleware }: LeaderStartOptions,
  host: Host,
  onFatal: (error: Error) => void,
  onFollowing?: (address: string | undefined) => void,
): SpawnedLeader {
  const system = createSystem({ name, host, middleware, supervise: { decide: () => 'escalate' } });
  const onEvent = (event: WalEvent): void => {
    logWalEvent(host, event);
    wal?.onEvent?.(event);
  };
  const openJournal = journal ?? walJournal({ ...wal, dir, onEvent, onFatal });
  const openSpill = spill ?? (dir === undefined ? journal?.spill : fileSpill(nodeStorage(dir)));
  const actors = (): ActorsView => viewActors(system);
  const args = {
    host,
    openJournal,
    openSpill,
    onFatal,
    onFollowing,
    limits,
    times,
    labels,
    observe,
    viewActors: actors,
  };
  return { system, leader: system.spawn(LeaderActor, { args, name: 'leader' }) };
}
