import type { MessageView, Middleware, Outcome, Verdict } from '@troupe/core';
import { callback, checkOptions, name, numberAbove, oneOf, wholeNumber } from '@troupe/core/option-check';
import { LRUMap } from 'mnemonist';
import { type MessageScope, messageScope } from '../message-scope.js';
import { type Metric, type MetricSource, messageCounter } from '../metric.js';
import { Circuit, type CircuitRules, type CircuitState, NO_PROBE } from './circuit.js';

export interface CircuitBreakerOptions {
  /** The name in metrics and errors. Default `circuit-breaker`. */
  readonly name?: string | undefined;
  /** Failures that open the circuit. Default 5. */
  readonly failures?: number | undefined;
  /** Only failures within this time count together. Default 10,000. */
  readonly withinMs?: number | undefined;
  /** Time that the circuit stays open. Default 5,000. */
  readonly openMs?: number | undefined;
  /** Messages let through while the circuit is half-open; all must succeed. Default 1. */
  readonly probes?: number | undefined;
  /**
   * One circuit for all (default), one per actor, or one per key; a message with the key undefined has no
   * circuit.
   */
  readonly per?: MessageScope | undefined;
  /** While the circuit is open: refuse messages, or hold them and their actor. Default `refuse`. */
  readonly open?: 'refuse' | 'hold' | undefined;
  /** Whether an error counts as a failure. Default: all do. */
  readonly countsAsFailure?: ((error: Error) => boolean) | undefined;
  /** Circuits remembered. Default 1,000. */
  readonly keysMax?: number | undefined;
}

export interface CircuitBreaker extends Middleware, MetricSource {
  /** Messages that an open circuit has refused. */
  readonly refused: number;
  /** Times that a circuit has opened. */
  readonly opened: number;
  /** The state of the circuit with that key; `''` is the key of `per: 'all'`. */
  stateOf(key: string, now: number): CircuitState;
}

const rules = {
  name,
  failures: wholeNumber(1),
  withinMs: numberAbove(0),
  openMs: numberAbove(0),
  probes: wholeNumber(1),
  per: messageScope,
  open: oneOf(['refuse', 'hold']),
  countsAsFailure: callback,
  keysMax: wholeNumber(1),
};

/**
 * Keeps messages away from handlers that keep failing, and probes with a few messages whether they have
 * recovered.
 */
export function circuitBreaker(options: CircuitBreakerOptions = {}): CircuitBreaker {
  checkOptions('circuitBreaker', options, rules);
  return new CircuitBreakerMiddleware(options);
}

interface Call {
  readonly circuit: Circuit;
  readonly probe: number;
}

class CircuitBreakerMiddleware implements CircuitBreaker {
  refused = 0;
  opened = 0;
  readonly name: string;
  readonly metrics: readonly Metric[];
  private readonly rules: CircuitRules;
  private readonly per: MessageScope;
  private readonly holds: boolean;
  private readonly countsAsFailure: (error: Error) => boolean;
  private readonly circuits: LRUMap<string, Circuit>;
  private readonly calls = new WeakMap<MessageView, Call>();
  /** Entries of `calls`: mostly none, and then no lookup is needed. */
  private callCount = 0;
  /** The circuit of `per: 'all'`. */
  private shared: Circuit | undefined = undefined;

  constructor(options: CircuitBreakerOptions) {
    this.name = options.name ?? 'circuit-breaker';
    this.rules = {
      failures: options.failures ?? 5,
      withinMs: options.withinMs ?? 10_000,
      openMs: options.openMs ?? 5_000,
      probes: options.probes ?? 1,
    };
    this.per = options.per ?? 'all';
    this.holds = options.open === 'hold';
    this.countsAsFailure = options.countsAsFailure ?? (() => true);
    this.circuits = new LRUMap(options.keysMax ?? 1_000);
    this.metrics = [
      messageCounter(
        'troupe.circuit_breaker.refused',
        this.name,
        'Messages kept away by an open circuit.',
        () => this.refused,
      ),
      messageCounter(
        'troupe.circuit_breaker.opened',
        this.name,
        'Times that a circuit has opened.',
        () => this.opened,
      ),
    ];
  }

  stateOf(key: string, now: number): CircuitState {
    return this.circuits.peek(key)?.state(now) ?? 'closed';
  }

  readonly timesHandlers = false;

  readonly beforeMessage = (message: MessageView): Verdict | undefined => {
    const key = this.keyOf(message);
    if (key === undefined) return undefined;
    const circuit = this.circuitOf(key);
    if (circuit.isClosed && typeof this.per !== 'function') return undefined;
    const decision = circuit.admit(message.now);
    if (decision.kind === 'passed') {
      if (decision.probe !== NO_PROBE || typeof this.per === 'function') {
        this.calls.set(message, { circuit, probe: decision.probe });
        this.callCount += 1;
      }
      return undefined;
    }
    this.refused += 1;
    if (!this.holds) return { verdict: 'refuse', why: `${this.name}: the circuit is open` };
    const reason = { user: `${this.name}: the circuit is open` };
    return { verdict: 'hold', reason, resumeOn: { on: 'after', ms: decision.ms } };
  };

  readonly afterMessage = (message: MessageView, outcome: Outcome): undefined => {
    const call = this.callOf(message, outcome);
    if (call === undefined) return;
    const { circuit, probe } = call;
    if (outcome.kind === 'handled') circuit.recordSuccess(probe);
    else if (outcome.kind !== 'failed') circuit.cancelCall(probe);
    else if (this.countsAsFailure(outcome.error)) circuit.recordFailure(probe, message.now);
    else circuit.recordSuccess(probe);
  };

  /**
   * Only probes and calls with a key function are stored: a handler might change the payload that a key is
   * made from.
   */
  private callOf(message: MessageView, outcome: Outcome): Call | undefined {
    const stored = this.callCount === 0 ? undefined : this.calls.get(message);
    if (stored !== undefined) {
      this.callCount -= 1;
      this.calls.delete(message);
    }
    if (stored !== undefined || outcome.kind !== 'failed' || typeof this.per === 'function') return stored;
    return { circuit: this.circuitOf(this.keyOf(message) as string), probe: NO_PROBE };
  }

  private keyOf(message: MessageView): string | undefined {
    if (this.per === 'all') return '';
    return this.per === 'actor' ? message.path : this.per(message);
  }

  private readonly countOpened = (): void => {
    this.opened += 1;
  };

  private circuitOf(key: string): Circuit {
    if (this.shared !== undefined) return this.shared;
    let circuit = this.circuits.get(key);
    if (circuit === undefined) {
      circuit = new Circuit(this.rules, this.countOpened);
      this.circuits.set(key, circuit);
      if (this.per === 'all') this.shared = circuit;
    }
    return circuit;
  }
}
