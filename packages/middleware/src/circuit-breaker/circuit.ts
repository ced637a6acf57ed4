export type CircuitState = 'closed' | 'open' | 'half-open';

export interface CircuitRules {
  /** Failures within `withinMs` that open the circuit. */
  readonly failures: number;
  readonly withinMs: number;
  /** Time that the circuit stays open before it lets probes through. */
  readonly openMs: number;
  /** Successful probes that close the circuit. */
  readonly probes: number;
}

/** Whether the next call may pass. */
export type CallDecision =
  | { readonly kind: 'passed'; readonly probe: number }
  /** The next check is due in `ms`. */
  | { readonly kind: 'refused'; readonly ms: number };

/** The probe number of a call through a closed circuit. */
export const NO_PROBE = 0;
/** Checks of a held message within `openMs`, while the probes are under way. */
const CHECKS_PER_ROUND = 10;
const PASSED: CallDecision = { kind: 'passed', probe: NO_PROBE };

/**
 * The state of one circuit, as a function of calls, results and time.
 *
 *   closed ── `failures` within `withinMs` ──→ open ── `openMs` ──→ half-open ── probes succeed ──→ closed
 *                                                ↑                      │
 *                                                └──── a probe fails ───┘
 *
 * A probe without a result counts as failed after `openMs`: else one lost call would keep the circuit
 * half-open for ever. Results of an earlier round change nothing.
 */
export class Circuit {
  private readonly rules: CircuitRules;
  private readonly onOpened: () => void;
  private failedAt: number[] = [];
  private openUntil = Number.NEGATIVE_INFINITY;
  private current: CircuitState = 'closed';
  private succeeded = 0;
  /** Start times of probes under way, by probe number. */
  private readonly underway = new Map<number, number>();
  private lastProbe = NO_PROBE;

  constructor(rules: CircuitRules, onOpened: () => void) {
    this.rules = rules;
    this.onOpened = onOpened;
  }

  /** Changes with calls only, not with time. */
  get isClosed(): boolean {
    return this.current === 'closed';
  }

  state(now: number): CircuitState {
    if (this.current === 'open' && now >= this.openUntil) this.beginProbing();
    if (this.current === 'half-open' && this.hasLostProbe(now)) this.open(now);
    return this.current;
  }

  admit(now: number): CallDecision {
    switch (this.state(now)) {
      case 'closed':
        return PASSED;
      case 'open':
        return { kind: 'refused', ms: this.openUntil - now };
      default: {
        if (this.underway.size + this.succeeded >= this.rules.probes) {
          return { kind: 'refused', ms: this.rules.openMs / CHECKS_PER_ROUND };
        }
        this.lastProbe += 1;
        this.underway.set(this.lastProbe, now);
        return { kind: 'passed', probe: this.lastProbe };
      }
    }
  }

  recordSuccess(probe: number): void {
    if (!this.underway.delete(probe)) return;
    this.succeeded += 1;
    if (this.succeeded < this.rules.probes) return;
    this.current = 'closed';
    this.failedAt = [];
  }

  recordFailure(probe: number, now: number): void {
    if (this.underway.delete(probe)) return this.open(now);
    if (this.current !== 'closed' || probe !== NO_PROBE) return;
    this.failedAt = this.failedAt.filter((at) => now - at < this.rules.withinMs);
    this.failedAt.push(now);
    if (this.failedAt.length >= this.rules.failures) this.open(now);
  }

  /** The call was not made. */
  cancelCall(probe: number): void {
    this.underway.delete(probe);
  }

  private open(now: number): void {
    this.current = 'open';
    this.openUntil = now + this.rules.openMs;
    this.failedAt = [];
    this.underway.clear();
    this.onOpened();
  }

  private beginProbing(): void {
    this.current = 'half-open';
    this.succeeded = 0;
    this.underway.clear();
  }

  private hasLostProbe(now: number): boolean {
    for (const since of this.underway.values()) if (now - since >= this.rules.openMs) return true;
    return false;
  }
}
