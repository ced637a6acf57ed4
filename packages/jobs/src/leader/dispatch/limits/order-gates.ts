// Hot path: for jobs with an order key only.

import { TimedHeap } from '../../../collections/timed-heap.js';
import { type QueueLimits, queueOf } from '../../../job/queue-control.js';
import type { QueueName } from '../exec-queue.js';
import { type KeyRule, OrderGate } from './order-gate.js';

/** Workers that are remembered for keys without live jobs. */
const HINTS_MAX = 65_536;

/** Puts a job into its lane. */
type Admit = (no: number, name: QueueName, tenant: string) => void;

/**
 * Order keys (ADR 0426). A job takes its key before it enters its lane and returns it when it has ended, so
 * at most `keyRunningMax` jobs of a key are in lanes, running or between two attempts; the others wait here.
 * Jobs are known by their numbers, because one may be assigned before its own record is durable (ADR 0407).
 */
export class OrderGates {
  private readonly gates = new Map<string, OrderGate>();
  private readonly held = new Map<number, OrderGate>();
  private readonly rules = new Map<string, KeyRule>();
  /** Gates by number, for {@link wakeUps}. */
  private readonly sleepers = new Map<number, OrderGate>();
  private readonly wakeUps = new TimedHeap();
  private lastSleeper = 0;
  private readonly hints = new Map<string, string>();
  private readonly isWaiting: (no: number) => boolean;
  private readonly admit: Admit;
  /** Of the turn. */
  now = 0;

  constructor(isWaiting: (no: number) => boolean, admit: Admit) {
    this.isWaiting = isWaiting;
    this.admit = admit;
  }

  get nextAt(): number {
    return this.wakeUps.nextAt;
  }

  /** True: the job has its key, and enters its lane. False: it waits here until it is admitted. */
  enter(
    no: number,
    name: QueueName,
    tenant: string,
    key: string,
    { atHead }: { readonly atHead: boolean },
  ): boolean {
    if (this.held.has(no)) return true;
    const gate = this.gateOf(name, tenant, key);
    if (gate.size === 0 && gate.hasRoom(this.now)) {
      this.hold(no, gate, { isNew: true });
      return true;
    }
    gate.park(no, name, { atHead });
    this.sleep(gate);
    return false;
  }

  /** The job has its key from before the leader's restart. False: the key has no room. */
  restore(no: number, name: QueueName, tenant: string, key: string, isRunning: boolean): boolean {
    const gate = this.gateOf(name, tenant, key);
    if (!isRunning && gate.holders.length >= gate.rule.runningMax) return false;
    this.hold(no, gate, { isNew: false });
    return true;
  }

  /** An attempt begins. */
  started(no: number): void {
    if (this.held.size === 0) return;
    const gate = this.held.get(no);
    if (gate?.rule.rate !== undefined) gate.started(no, this.now);
  }

  /** The job has ended. One that waits for its key is skipped when its turn comes. */
  release(no: number): void {
    if (this.held.size === 0) return;
    const gate = this.held.get(no);
    if (gate === undefined) return;
    this.held.delete(no);
    gate.release(no);
    this.advance(gate);
  }

  /** A job has ended that had not its key: its entry is skipped later. False: it has its key. */
  leaveLine(no: number, name: QueueName, tenant: string, key: string): boolean {
    if (this.held.has(no)) return false;
    const gate = this.gate(name, tenant, key);
    if (gate === undefined) return true;
    gate.gone += 1;
    this.sleep(gate);
    return true;
  }

  /** Gates whose rate allows the next job by now, or that may be forgotten. */
  wake(now: number): void {
    this.now = now;
    while (this.wakeUps.nextAt <= now) {
      const number = this.wakeUps.pop() as number;
      const gate = this.sleepers.get(number) as OrderGate;
      this.sleepers.delete(number);
      gate.wakesAt = Number.POSITIVE_INFINITY;
      this.advance(gate);
    }
  }

  /** An operator has changed the limits of the keys of a queue. */
  setRule(queue: string, { keyRunningMax = 1, keyRate: rate }: QueueLimits, emptyAt: number): void {
    const rule = this.ruleOf(queue);
    const isSameRate = JSON.stringify(rule.rate) === JSON.stringify(rate);
    rule.runningMax = keyRunningMax;
    if (!isSameRate) Object.assign(rule, { rate, emptyAt });
    for (const gate of [...this.gates.values()]) {
      if (gate.rule !== rule) continue;
      if (!isSameRate) gate.ruleChanged();
      this.advance(gate);
    }
    if (keyRunningMax === 1 && rate === undefined) this.dropUnusedRule(rule);
  }

  /** The key of a job, for those that look. */
  gate(name: QueueName, tenant: string, key: string): OrderGate | undefined {
    return this.gates.get(scopeOf(name, tenant, key));
  }

  /** Jobs of a queue that wait for their keys. */
  waitingIn(queue: string): number {
    let waiting = 0;
    for (const gate of this.gates.values()) if (gate.rule.queue === queue) waiting += gate.size - gate.gone;
    return waiting;
  }

  /** The worker that ran the job before it of the same key. */
  hintOf(no: number): string | undefined {
    const gate = this.held.get(no);
    return gate === undefined ? undefined : this.hints.get(gate.scope);
  }

  setHint(no: number, worker: string): void {
    const gate = this.held.get(no);
    if (gate === undefined) return;
    this.hints.delete(gate.scope);
    this.hints.set(gate.scope, worker);
    if (this.hints.size <= HINTS_MAX) return;
    for (const oldest of this.hints.keys()) {
      this.hints.delete(oldest);
      return;
    }
  }

  private hold(no: number, gate: OrderGate, options: { readonly isNew: boolean }): void {
    gate.hold(no, options);
    this.held.set(no, gate);
  }

  /** Admits jobs as far as the key has room, and forgets a key without jobs. */
  private advance(gate: OrderGate): void {
    while (gate.size > 0 && gate.hasRoom(this.now)) {
      const next = gate.next();
      if (next === undefined) break;
      if (!this.isWaiting(next.no)) {
        gate.gone -= 1;
        continue;
      }
      this.hold(next.no, gate, { isNew: true });
      this.admit(next.no, next.name, gate.tenant);
    }
    this.sleep(gate);
  }

  private sleep(gate: OrderGate): void {
    const isIdle = gate.holders.length === 0 && gate.size === 0 && gate.gone === 0;
    const hasRoom = gate.holders.length < gate.rule.runningMax;
    const at = isIdle
      ? gate.idleAt(this.now)
      : gate.size > 0 && hasRoom
        ? gate.rateAt(this.now)
        : Number.POSITIVE_INFINITY;
    if (isIdle && at <= this.now) {
      // An entry in the heap may be left of a gate that was forgotten before.
      if (this.gates.get(gate.scope) === gate) this.gates.delete(gate.scope);
      return;
    }
    if (at >= gate.wakesAt) return;
    gate.wakesAt = at;
    this.lastSleeper += 1;
    this.sleepers.set(this.lastSleeper, gate);
    this.wakeUps.push(at, this.lastSleeper);
  }

  private gateOf(name: QueueName, tenant: string, key: string): OrderGate {
    const scope = scopeOf(name, tenant, key);
    const known = this.gates.get(scope);
    if (known !== undefined) return known;
    const gate = new OrderGate(scope, tenant, this.ruleOf(queueOf(name)));
    this.gates.set(scope, gate);
    return gate;
  }

  private ruleOf(queue: string): KeyRule {
    const known = this.rules.get(queue);
    if (known !== undefined) return known;
    const rule: KeyRule = { queue, runningMax: 1, rate: undefined, emptyAt: Number.NEGATIVE_INFINITY };
    this.rules.set(queue, rule);
    return rule;
  }

  private dropUnusedRule(rule: KeyRule): void {
    for (const gate of this.gates.values()) if (gate.rule === rule) return;
    this.rules.delete(rule.queue);
  }
}

/** Keys of different queues are independent, and so are keys of different tenants. */
function scopeOf({ group, exec }: QueueName, tenant: string, key: string): string {
  return `${tenant}\n${group}/${exec}\n${key}`;
}
