import type { ActorCell } from '../actor/actor-cell.js';
import type { Parts } from '../actor/runtime-parts.js';
import type { HostTimer } from '../host.js';
import type { ActorView, InspectOptions } from '../inspect/actor-view.js';
import { inspectActor } from '../inspect/inspect-actor.js';
import type { Threads } from './threads.js';

/** Views of residents, by their ids, which are the same on all threads. */
type ViewsById = Map<string, ActorView>;

/** An inspection that waits for the answers of other threads. */
interface OpenInspection {
  readonly waitsFor: Set<number>;
  readonly views: ViewsById;
  readonly timer: HostTimer;
  readonly done: (views: ViewsById) => void;
}

/** Views of actors on other threads. */
export class RemoteInspection {
  private readonly runtime: Parts<'childLists' | 'host' | 'ready' | 'remote'>;
  private readonly threads: Threads;
  private readonly residents: { readonly living: readonly ActorCell[] };
  private readonly open = new Map<number, OpenInspection>();
  private last = 0;

  constructor(
    runtime: RemoteInspection['runtime'],
    threads: Threads,
    residents: RemoteInspection['residents'],
  ) {
    this.runtime = runtime;
    this.threads = threads;
    this.residents = residents;
  }

  /** The view with the actors themselves in the place of their proxies, as far as threads answer in time. */
  async complete(view: ActorView, options: InspectOptions, withinMs: number): Promise<ActorView> {
    return withResidents(view, await this.views(options, withinMs));
  }

  private views(options: InspectOptions, withinMs: number): Promise<ViewsById> {
    const { others } = this.threads;
    this.last += 1;
    const number = this.last;
    return new Promise((done) => {
      const timer = this.runtime.host.setTimer(withinMs, () => this.end(number));
      this.open.set(number, { waitsFor: new Set(others), views: new Map(), timer, done });
      for (const thread of others) this.threads.signal(thread, { kind: 'inspect', number, options });
    });
  }

  /** Another thread inspects. */
  asked(from: number, number: number, options: InspectOptions): void {
    const views = this.residents.living.map((cell) => inspectActor(this.runtime, cell, options));
    this.threads.signal(from, { kind: 'inspected', number, views });
  }

  answered(from: number, number: number, views: readonly ActorView[]): void {
    const open = this.open.get(number);
    if (open === undefined) return;
    for (const view of views) open.views.set(view.id, view);
    open.waitsFor.delete(from);
    if (open.waitsFor.size === 0) this.end(number);
  }

  threadEnded(thread: number): void {
    for (const number of [...this.open.keys()]) this.answered(thread, number, []);
  }

  private end(number: number): void {
    const open = this.open.get(number);
    this.open.delete(number);
    open?.timer.cancel();
    open?.done(open.views);
  }
}

function withResidents(view: ActorView, views: ViewsById): ActorView {
  const resident = view.thread === undefined ? undefined : views.get(view.id);
  const shown = resident === undefined ? view : { ...resident, thread: view.thread };
  return { ...shown, children: shown.children.map((child) => withResidents(child, views)) };
}
