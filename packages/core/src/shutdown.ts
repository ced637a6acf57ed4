import { messageOf, OptionError, SystemStoppedError, toError } from './errors.js';
import type { Host } from './host.js';

/**
 * stop-accepting   close listeners, refuse new work
 * drain            let running work finish
 * actors           the actors stop, children before parents
 * resources        close files and connections that actors were using
 */
export type ShutdownPhase = 'stop-accepting' | 'drain' | 'actors' | 'resources';
const SHUTDOWN_PHASES: readonly ShutdownPhase[] = ['stop-accepting', 'drain', 'actors', 'resources'];

export interface ShutdownOptions {
  /**
   * All phases together. Each gets an equal share of the rest; unused time goes to the next. Default 10,000;
   * more than 2³¹ − 1 (25 days), infinity included, counts as that.
   */
  readonly withinMs?: number | undefined;
}

/** A task or actor that the shutdown did not wait for any longer. */
export interface Unfinished {
  readonly phase: ShutdownPhase;
  /** Name of the task, or path of the actor. */
  readonly name: string;
  readonly why: string;
}

export type ShutdownTask = () => unknown;

interface Task {
  readonly name: string;
  readonly run: ShutdownTask;
}

const WITHIN_MS_DEFAULT = 10_000;
/** The longest time of a host's timer; it fires a longer one at once. */
const WITHIN_MS_MAX = 2 ** 31 - 1;

/** Stops the actors; `actorsStopped` is called when they have ended. */
export interface ActorsPort {
  stop(): void;
  /** Time is up: ends them now, and returns the actors that were left. */
  kill(): readonly Unfinished[];
}

/** Ends a system phase by phase. Nothing waits without a limit, and a task that fails delays nothing. */
export class Shutdown {
  readonly unfinished: Unfinished[] = [];
  private readonly system: string;
  private readonly host: Host;
  private readonly actors: ActorsPort;
  private readonly done: () => void;
  private readonly tasks = new Map<ShutdownPhase, Task[]>();
  private phase = -1;
  private limit: number | undefined = undefined;
  private endsAt = Number.POSITIVE_INFINITY;
  private onActorsStopped: (() => void) | undefined = undefined;

  constructor(system: string, host: Host, actors: ActorsPort, done: () => void) {
    this.system = system;
    this.host = host;
    this.actors = actors;
    this.done = done;
  }

  get hasBegun(): boolean {
    return this.phase >= 0;
  }

  /** Returns the function that takes the task back. */
  add(phase: ShutdownPhase, name: string, run: ShutdownTask): () => void {
    if (!SHUTDOWN_PHASES.includes(phase))
      throw new OptionError('onShutdown.phase', phase, `needed one of ${SHUTDOWN_PHASES.join(', ')}`);
    if (typeof run !== 'function') throw new OptionError('onShutdown.run', run, 'needed a function');
    if (this.hasBegun) throw new SystemStoppedError(this.system, `onShutdown(${name})`);
    const task = { name, run };
    this.tasks.set(phase, [...this.tasksOf(phase), task]);
    return () =>
      this.tasks.set(
        phase,
        this.tasksOf(phase).filter((known) => known !== task),
      );
  }

  begin({ withinMs }: ShutdownOptions): void {
    if (this.hasBegun) return;
    this.limit = withinMs;
    this.endsAt = this.host.now() + Math.min(withinMs ?? WITHIN_MS_DEFAULT, WITHIN_MS_MAX);
    this.enter(0);
  }

  /** The last actor has ended; without a shutdown (a significant one ended), the rest follows from here. */
  actorsStopped(): void {
    if (this.onActorsStopped !== undefined) return this.onActorsStopped();
    this.endsAt = this.host.now() + WITHIN_MS_DEFAULT;
    this.enter(SHUTDOWN_PHASES.indexOf('resources'));
  }

  private enter(index: number): void {
    this.phase = index;
    const phase = SHUTDOWN_PHASES[index];
    if (phase === undefined) return this.done();
    const waits = this.tasksOf(phase).map(({ name, run }) => ({
      name,
      settled: this.start(phase, name, run),
    }));
    if (phase === 'actors') waits.push({ name: '', settled: this.stopActors() });
    if (waits.length === 0) return this.enter(index + 1);
    this.await(phase, waits, () => this.enter(index + 1));
  }

  /** Goes on when all have settled, or when this phase's share of the time is used up. */
  private await(
    phase: ShutdownPhase,
    waits: readonly { readonly name: string; readonly settled: PromiseLike<unknown> }[],
    next: () => void,
  ): void {
    const open = new Set(waits);
    const limitMs = this.shareOf(phase);
    const timer = this.host.setTimer(limitMs, () => {
      if (phase === 'actors') this.unfinished.push(...this.actors.kill());
      for (const wait of [...open]) {
        // Killed actors end in their next turn: they are waited for, the tasks are not.
        if (wait.name === '') continue;
        open.delete(wait);
        this.unfinished.push({ phase, name: wait.name, why: `did not end within ${Math.round(limitMs)} ms` });
      }
      if (open.size === 0) next();
    });
    for (const wait of waits) {
      void wait.settled.then(() => {
        if (!open.delete(wait) || open.size > 0) return;
        timer.cancel();
        next();
      });
    }
  }

  private start(phase: ShutdownPhase, name: string, run: ShutdownTask): Promise<void> {
    const failed = (thrown: unknown): void => {
      this.unfinished.push({ phase, name, why: `failed: ${messageOf(toError(thrown))}` });
    };
    try {
      return Promise.resolve(run()).then(() => undefined, failed);
    } catch (thrown) {
      failed(thrown);
      return Promise.resolve();
    }
  }

  private stopActors(): Promise<void> {
    return new Promise((resolve) => {
      this.onActorsStopped = resolve;
      this.actors.stop();
    });
  }

  private shareOf(phase: ShutdownPhase): number {
    // Without a limit the actors have the whole time: twice the limit of one that hangs, so the others get
    // theirs.
    if (phase === 'actors' && this.limit === undefined) return WITHIN_MS_DEFAULT;
    const ahead = SHUTDOWN_PHASES.slice(this.phase).filter(
      (later) => later === 'actors' || this.tasksOf(later).length > 0,
    );
    return Math.max(0, this.endsAt - this.host.now()) / Math.max(1, ahead.length);
  }

  private tasksOf(phase: ShutdownPhase): Task[] {
    return this.tasks.get(phase) ?? [];
  }
}
