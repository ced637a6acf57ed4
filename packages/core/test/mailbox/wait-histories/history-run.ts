import { type ChildFailure, type RuntimeEvent, router } from '@troupe/core';
import { createTestSystem, type TestSystem } from '@troupe/core/testing';
import { MessageLedger, SentMessage } from './message-ledger.js';
import { type ScriptActor, type ScriptContext, type ScriptRef, scriptActor } from './script-actor.js';
import { DirectedError, type ScriptActors, ScriptInterpreter } from './script-interpreter.js';
import { type ActorPlan, type OutsideAct, routeesOf, type WaitHistory } from './wait-history.js';

/** Every wait of a history without waits from outside has ended by then; nothing is released by time. */
const FINISHED_MS = 25_000;
/** Gates that no actor has opened are opened now, after every release by time. */
const GATES_OPEN_MS = 100_000;
const OUTSIDE = -1;
const CYCLE_CODES: readonly unknown[] = ['ERR_ASK_CYCLE', 'ERR_SEND_CYCLE'];

/** The facts of a run that its checker needs. */
export interface RunReport {
  readonly history: WaitHistory;
  readonly messages: readonly SentMessage[];
  /** Receivers released by time. */
  readonly stuck: readonly string[];
  /** Refusals as part of a cycle, where no cycle of asks and sends was open. */
  readonly baselessRefusals: readonly string[];
  /** Of all actors that were muted, waited or had work left at the end. */
  readonly leftBusy: readonly string[];
  /** The longest mailbox of each actor. */
  readonly depths: readonly number[];
  readonly mutes: number;
  readonly cycles: number;
}

export function runHistory(history: WaitHistory): Promise<RunReport> {
  return new HistoryRun(history).run();
}

/** One history on the production runtime, in virtual time. */
class HistoryRun implements ScriptActors {
  readonly refs: ScriptRef[] = [];
  private readonly history: WaitHistory;
  private readonly test: TestSystem;
  private readonly ledger = new MessageLedger();
  private readonly scripts: ScriptInterpreter;
  private readonly depths: number[];
  private readonly stuck: string[] = [];
  private readonly baselessRefusals: string[] = [];
  private mutes = 0;
  private cycles = 0;

  constructor(history: WaitHistory) {
    this.history = history;
    this.depths = history.actors.map(() => 0);
    this.test = createTestSystem({
      seed: history.seed,
      // No wait ends by a deadline.
      askWithinMs: 1e9,
      warn: false,
      recorder: false,
      supervise: policy,
    });
    this.test.system.subscribe((event) => this.observe(event));
    this.scripts = new ScriptInterpreter(this, this.ledger, this.test.host);
    // Routers name actors of higher numbers, which must be there first.
    for (let at = history.actors.length - 1; at >= 0; at -= 1) this.refs[at] = this.spawn(at);
  }

  async run(): Promise<RunReport> {
    for (const act of this.history.acts) this.test.host.setTimer(act.at, () => this.perform(act));
    await this.test.advance(FINISHED_MS);
    if (this.history.kind === 'outside') await this.endOutsideWaits();
    const report = this.report();
    await this.test[Symbol.asyncDispose]();
    return report;
  }

  noteDepth(actor: number): void {
    if (this.history.kind !== 'upward') return;
    const { kind } = this.history.actors[actor] as ActorPlan;
    for (const target of kind === 'router' ? routeesOf(this.history.actors, actor) : [actor]) {
      const { depth } = this.test.system.inspect({ under: this.refs[target] as ScriptRef, levels: 0 });
      this.depths[target] = Math.max(this.depths[target] as number, depth);
    }
  }

  noteRefusal(message: SentMessage, error: Error): void {
    if (!CYCLE_CODES.includes((error as { code?: unknown }).code)) return;
    this.cycles += 1;
    if (!this.isInCycle(message)) this.baselessRefusals.push(`${message}: ${error.message}`);
  }

  private spawn(index: number): ScriptRef {
    const { kind, capacity, throughput } = this.history.actors[index] as ActorPlan;
    const handle = (ctx: ScriptContext, at: number, message: SentMessage): unknown =>
      this.scripts.handle(ctx, at, message);
    const definition = scriptActor(capacity, throughput);
    const { system } = this.test;
    if (kind === 'router')
      return router<ScriptActor>(
        definition,
        routeesOf(this.history.actors, index).map((at) => this.refs[at] as ScriptRef),
      );
    if (kind === 'actor')
      return system.spawn(definition, { name: `actor-${index}`, args: { index, handle } });
    return system.spawnPool(definition, {
      name: `pool-${index}`,
      size: 2,
      routing: { pull: { window: Math.ceil(throughput / 2) } },
      mailbox: { capacity },
      supervise: policy,
      args: () => ({ index, handle }),
    });
  }

  private perform(act: OutsideAct): void {
    const { system, host } = this.test;
    switch (act.act) {
      case 'tell':
        this.ref(act.message.to).tell.run(this.ledger.add(act.message, 'tell', OUTSIDE));
        this.noteDepth(act.message.to);
        return;
      case 'ask':
      case 'send': {
        const message = this.ledger.add(act.message, act.act, OUTSIDE);
        void this.scripts.follow(message, this.ref(act.message.to)[act.act].run(message));
        this.noteDepth(act.message.to);
        return;
      }
      case 'stop':
      case 'drain':
      case 'kill':
        if (this.history.actors[act.actor]?.kind !== 'router') void system[act.act](this.ref(act.actor));
        return;
      case 'suspend': {
        if (this.history.actors[act.actor]?.kind === 'router') return;
        const token = system.suspend(this.ref(act.actor));
        host.setTimer(act.ms, () => token.resume());
        return;
      }
      default:
        act satisfies never;
    }
  }

  private async endOutsideWaits(): Promise<void> {
    await this.test.advance(GATES_OPEN_MS - FINISHED_MS);
    this.scripts.openGates();
    await this.test.advance(FINISHED_MS);
  }

  private observe(event: RuntimeEvent | { readonly kind: 'stuck'; readonly path: string }): void {
    if (event.kind === 'stuck') this.stuck.push(event.path);
    if (event.kind === 'suspended' && event.reason === 'backpressure') this.mutes += 1;
    if (event.kind !== 'dead-letter') return;
    const { payload, reason } = event.letter;
    if (payload instanceof SentMessage) payload.letters.push(reason);
  }

  /** Whether open asks and sends lead from its receiver back to its sender. */
  private isInCycle(refused: SentMessage): boolean {
    const now = this.test.host.now();
    const open = this.ledger.messages.filter((m) => m.isOpen || m.settledAt === now);
    const reached = new Set([refused.script.to]);
    for (const actor of reached) for (const m of open) if (m.from === actor) reached.add(m.script.to);
    return reached.has(refused.from);
  }

  private report(): RunReport {
    const views = this.test.system.inspect().children.flatMap((view) => [view, ...view.children]);
    return {
      history: this.history,
      messages: this.ledger.messages,
      stuck: this.stuck,
      baselessRefusals: this.baselessRefusals,
      leftBusy: views
        .filter(({ status, depth, stashed }) => status.join() !== 'idle' || depth + stashed > 0)
        .map(
          ({ path, activity, depth, stashed }) => `${path}: ${activity}, depth ${depth}, stashed ${stashed}`,
        ),
      depths: this.depths,
      mutes: this.mutes,
      cycles: this.cycles,
    };
  }

  private ref(actor: number): ScriptRef {
    return this.refs[actor] as ScriptRef;
  }
}

const policy = {
  restarts: 1_000_000,
  backoff: { fromMs: 1, toMs: 5 },
  decide: ({ error }: ChildFailure) => (error instanceof DirectedError ? error.directive : 'restart'),
} as const;
