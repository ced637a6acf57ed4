import type { TransportLimits } from '../access/transport-limits.js';
import { BodyBudget } from '../body/body-budget.js';
import { addressKey } from '../net/address.js';

const MINUTE_MS = 60_000;
/** Addresses with failed authentications. The oldest goes first: a flood of addresses costs no memory. */
const FAILED_ADDRESSES_MAX = 4_096;

interface AuthFailures {
  since: number;
  count: number;
  delayedUntil: number;
}

/** Connection limits by listener, address and identity, and delays for failed authentication. */
export class ConnectionAdmission {
  private readonly limits: TransportLimits;
  private readonly unauthenticatedByAddress = new Map<string, number>();
  private readonly connectionsByIdentity = new Map<string, number>();
  private readonly bodyBudgets = new Map<string, BodyBudget>();
  private readonly authFailures = new Map<string, AuthFailures>();
  private unauthenticatedTotal = 0;
  private connectionTotal = 0;

  constructor(limits: TransportLimits) {
    this.limits = limits;
  }

  get connections(): number {
    return this.connectionTotal;
  }

  get unauthenticated(): number {
    return this.unauthenticatedTotal;
  }

  /** 'accept' counts the socket: `closed` must follow. */
  accept(remote: string): 'accept' | 'reject' {
    const key = addressKey(remote);
    const here = this.unauthenticatedByAddress.get(key) ?? 0;
    const { connectionsMax, unauthenticatedMax, unauthenticatedPerAddressMax } = this.limits;
    if (
      this.connectionTotal >= connectionsMax ||
      this.unauthenticatedTotal >= unauthenticatedMax ||
      here >= unauthenticatedPerAddressMax
    ) {
      return 'reject';
    }
    this.connectionTotal += 1;
    this.unauthenticatedTotal += 1;
    this.unauthenticatedByAddress.set(key, here + 1);
    return 'accept';
  }

  hasRoom(identityName: string): boolean {
    return (this.connectionsByIdentity.get(identityName) ?? 0) < this.limits.connectionsPerIdentityMax;
  }

  authenticated(remote: string, identityName: string): void {
    this.removeUnauthenticated(remote);
    this.connectionsByIdentity.set(identityName, (this.connectionsByIdentity.get(identityName) ?? 0) + 1);
  }

  /** `identityName` is null where it was never authenticated. */
  closed(remote: string, identityName: string | null): void {
    this.connectionTotal -= 1;
    if (identityName === null) this.removeUnauthenticated(remote);
    else {
      decrement(this.connectionsByIdentity, identityName);
      if (!this.connectionsByIdentity.has(identityName)) this.bodyBudgets.delete(identityName);
    }
  }

  /** The memory for bodies of all connections of an identity. */
  bodyBudgetOf(identityName: string): BodyBudget {
    const known = this.bodyBudgets.get(identityName);
    if (known !== undefined) return known;
    const budget = new BodyBudget(this.limits.gatheredBytesPerIdentityMax);
    this.bodyBudgets.set(identityName, budget);
    return budget;
  }

  /** Bytes of bodies that are put together, and of those that wait for that. */
  get gatheredBytes(): number {
    let sum = 0;
    for (const { usedBytes, waitingBytes } of this.bodyBudgets.values()) sum += usedBytes + waitingBytes;
    return sum;
  }

  /**
   * True: the address has failed too often, and its failures are answered late. It is not refused: a valid
   * key may be behind the same address.
   */
  authFailed(remote: string, now: number): boolean {
    const key = addressKey(remote);
    const known = this.authFailures.get(key);
    const failures =
      known !== undefined && now - known.since < MINUTE_MS
        ? known
        : { since: now, count: 0, delayedUntil: known?.delayedUntil ?? 0 };
    failures.count += 1;
    if (failures.count > this.limits.authFailuresPerMinuteMax)
      failures.delayedUntil = now + this.limits.authPenaltyMs;
    this.authFailures.delete(key);
    this.authFailures.set(key, failures);
    if (this.authFailures.size > FAILED_ADDRESSES_MAX) this.removeOldest();
    return now < failures.delayedUntil;
  }

  private removeOldest(): void {
    for (const oldest of this.authFailures.keys()) {
      this.authFailures.delete(oldest);
      return;
    }
  }

  private removeUnauthenticated(remote: string): void {
    this.unauthenticatedTotal -= 1;
    decrement(this.unauthenticatedByAddress, addressKey(remote));
  }
}

function decrement(counts: Map<string, number>, key: string): void {
  const left = (counts.get(key) ?? 1) - 1;
  if (left === 0) counts.delete(key);
  else counts.set(key, left);
}
