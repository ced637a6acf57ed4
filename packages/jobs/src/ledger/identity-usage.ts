/**
 * The identity of a client: the part of its name before the last slash, which a handshake has proved (ADR
 * 0409). Names without one are clients of a leader without keys, and are one identity.
 */
export function identityOf(client: string): string {
  const slash = client.lastIndexOf('/');
  return slash < 0 ? '' : client.slice(0, slash);
}

/** The part of the shared tables that one identity uses. */
export class IdentityUsage {
  /** Queued and running. */
  jobs = 0;
  jobBytes = 0;
  dead = 0;
  deadBytes = 0;
  producers = 0;
  readonly deadByExec = new Map<string, number>();

  get isEmpty(): boolean {
    return this.jobs === 0 && this.dead === 0 && this.producers === 0;
  }

  addDead(exec: string, bytes: number): void {
    this.dead += 1;
    this.deadBytes += bytes;
    this.deadByExec.set(exec, (this.deadByExec.get(exec) ?? 0) + 1);
  }

  removeDead(exec: string, bytes: number): void {
    this.dead -= 1;
    this.deadBytes -= bytes;
    const left = (this.deadByExec.get(exec) ?? 1) - 1;
    if (left === 0) this.deadByExec.delete(exec);
    else this.deadByExec.set(exec, left);
  }
}

const NO_USAGE = new IdentityUsage();

/** Usage by identity, counted by the ledger as it applies records. */
export class IdentityUsages {
  private readonly byIdentity = new Map<string, IdentityUsage>();
  /** Clients without an identity: the usual case of a leader without keys needs no look-up. */
  private readonly nameless = new IdentityUsage();

  /** Identities that have dead letters. */
  deadHolders = 0;

  /** For a change. */
  of(client: string): IdentityUsage {
    const slash = client.lastIndexOf('/');
    if (slash < 0) return this.nameless;
    const identity = client.slice(0, slash);
    const known = this.byIdentity.get(identity);
    if (known !== undefined) return known;
    const usage = new IdentityUsage();
    this.byIdentity.set(identity, usage);
    return usage;
  }

  /** For a look, by the name of the identity. */
  get(identity: string): IdentityUsage {
    return identity === '' ? this.nameless : (this.byIdentity.get(identity) ?? NO_USAGE);
  }

  *entries(): Generator<readonly [identity: string, usage: IdentityUsage]> {
    yield ['', this.nameless];
    yield* this.byIdentity;
  }

  addDead(client: string, exec: string, bytes: number): void {
    const usage = this.of(client);
    if (usage.dead === 0) this.deadHolders += 1;
    usage.addDead(exec, bytes);
  }

  removeDead(client: string, exec: string, bytes: number): void {
    const usage = this.of(client);
    usage.removeDead(exec, bytes);
    if (usage.dead === 0) this.deadHolders -= 1;
    this.sweep(client, usage);
  }

  /** An identity that uses nothing any more is forgotten. */
  sweep(client: string, usage: IdentityUsage): void {
    if (usage.isEmpty && usage !== this.nameless) this.byIdentity.delete(identityOf(client));
  }
}
