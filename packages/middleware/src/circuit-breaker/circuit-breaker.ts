import type { MessageView, Middleware, Outcome, Verdict } from '@troupe/core';
import { LRUMap } from 'mnemonist';
import { type Figure, type Measured, messageCounter } from '../figure.js';
import { above, aFunction, aName, oneOf, onlyKnown, whole } from '../option-check.js';
import { Circuit, type CircuitRules, type CircuitState, NO_PROBE } from './circuit.js';

export interface CircuitBreakerOptions {
  readonly name?: string;
  /** So many failures open the circuit. Default 5. */
  readonly failures?: number;
  /** Only failures within this time count together. Default 10,000. */
  readonly withinMs?: number;
  /** How long it stays open. Default 5,000. */
  readonly openMs?: number;
  /** Messages let through while it is half-open; all must succeed. Default 1. */
  readonly probes?: number;
  /** One circuit for all (default), one per actor, or one per key; a key undefined has no circuit. */
  readonly per?: 'all' | 'actor' | ((message: MessageView) => string | undefined);
  /** While it is open: refuse messages (default), or hold them and their actor. */
  readonly open?: 'refuse' | 'hold';
  /** Which errors count. Default: all. */
  readonly counts?: (error: Error) => boolean;
  /** Circuits remembered. Default 1,000. */
  readonly keysMax?: number;
}

export interface CircuitBreaker extends Middleware, Measured {
  readonly refused: number;
  /** Times that a circuit has opened. */
  readonly opened: number;
  /** Of the circuit with that key; `''` is the one of `per: 'all'`. */
  stateOf(key: string, now: number): CircuitState;
}

const OPTIONS = [
  'name',
  'failures',
  'withinMs',
  'openMs',
  'probes',
  'per',
  'open',
  'counts',
  'keysMax',
] as const;

/** Keeps messages away from handlers that keep failing, and tries with a few whether they have recovered. */
export function circuitBreaker(options: CircuitBreakerOptions = {}): CircuitBreaker {
  onlyKnown('circuitBreaker', options, OPTIONS);
  return new Breaker(options);
}

interface Call {
  readonly circuit: Circuit;
  readonly probe: number;
}

class Breaker implements CircuitBreaker {
  refused = 0;
  opened = 0;
  readonly name: string;
  readonly figures: readonly Figure[];
  private readonly rules: CircuitRules;
  private readonly per: NonNullable<CircuitBreakerOptions['per']>;
  private readonly holds: boolean;
  private readonly counts: (error: Error) => boolean;
  private readonly circuits: LRUMap<string, Circuit>;
  private readonly calls = new WeakMap<MessageView, Call>();
  /** Calls with a note that have not ended: mostly none, and then nobody has to look. */
  private noted = 0;
  /** The one of `per: 'all'`. */
  private shared: Circuit | undefined = undefined;

  constructor(options: CircuitBreakerOptions) {
    const { per = 'all', counts = () => true } = options;
    this.name = aName('circuitBreaker.name', options.name ?? 'circuit-breaker');
    this.rules = {
      failures: whole('circuitBreaker.failures', options.failures ?? 5, 1),
      withinMs: above('circuitBreaker.withinMs', options.withinMs ?? 10_000, 0),
      openMs: above('circuitBreaker.openMs', options.openMs ?? 5_000, 0),
      probes: whole('circuitBreaker.probes', options.probes ?? 1, 1),
    };
    this.per =
      typeof per === 'function' ? per : oneOf<'all' | 'actor'>('circuitBreaker.per', per, ['all', 'actor']);
    this.holds = oneOf('circuitBreaker.open', options.open ?? 'refuse', ['refuse', 'hold']) === 'hold';
    this.counts = aFunction('circuitBreaker.counts', counts);
    this.circuits = new LRUMap(whole('circuitBreaker.keysMax', options.keysMax ?? 1_000, 1));
    this.figures = [
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
    const admission = circuit.admit(message.now);
    if (admission.kind === 'passed') {
      if (admission.probe !== NO_PROBE || typeof this.per === 'function') {
        this.calls.set(message, { circuit, probe: admission.probe });
        this.noted += 1;
      }
      return undefined;
    }
    this.refused += 1;
    if (!this.holds) return { verdict: 'refuse', why: `${this.name}: the circuit is open` };
    const reason = { user: `${this.name}: the circuit is open` };
    return { verdict: 'hold', reason, resumeOn: { on: 'after', ms: admission.ms } };
  };

  readonly afterMessage = (message: MessageView, outcome: Outcome): undefined => {
    const call = this.callOf(message, outcome);
    if (call === undefined) return;
    const { circuit, probe } = call;
    if (outcome.kind === 'handled') circuit.succeededCall(probe);
    else if (outcome.kind !== 'failed') circuit.takenBack(probe);
    else if (this.counts(outcome.error)) circuit.failedCall(probe, message.now);
    else circuit.succeededCall(probe);
  };

  /** Ordinary calls leave no note, unless a handler might have changed what their key is made from. */
  private callOf(message: MessageView, outcome: Outcome): Call | undefined {
    const noted = this.noted === 0 ? undefined : this.calls.get(message);
    if (noted !== undefined) {
      this.noted -= 1;
      this.calls.delete(message);
    }
    if (noted !== undefined || outcome.kind !== 'failed' || typeof this.per === 'function') return noted;
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
