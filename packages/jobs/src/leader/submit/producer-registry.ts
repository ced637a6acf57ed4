import type { LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import { Numbering } from './uncommitted-jobs.js';

/**
 * The clients that number submits. A client becomes a producer with its first submit and ends as one when it
 * closes: from then on none of its numbers is sent again. A client that vanishes is remembered for the key
 * window (ADR 0408).
 */
export class ProducerRegistry {
  private readonly context: LeaderParts<'ledger' | 'limits' | 'recordTime' | 'stage' | 'uncommitted'>;
  private readonly byName = new Map<string, Numbering>();
  private next: number;

  constructor(context: ProducerRegistry['context']) {
    this.context = context;
    const { ledger } = context;
    this.next = ledger.nextProducer;
    for (const { no, client, token, lastAt } of ledger.producers.values())
      this.byName.set(nameOf(client, token), new Numbering(no, lastAt));
  }

  /** A new session of a known producer goes on with its numbering. */
  resume(session: ClientSession): void {
    const known = this.byName.get(nameOf(session.client, session.token));
    if (known === undefined || !this.isLive(known)) return;
    session.numbering = known;
    this.countIdentity(session);
  }

  /** Before the first submit of a session. False: there is no room for another producer. */
  register(session: ClientSession): boolean {
    this.resume(session);
    if (session.producer !== 0) return true;
    const { ledger, limits } = this.context;
    const known = ledger.producers.size + this.next - ledger.nextProducer;
    if (known >= limits.producersMax || this.isAtQuota(session)) return false;
    this.removeExpired();
    const { client, token } = session;
    session.numbering = new Numbering(this.next, this.context.recordTime);
    this.next += 1;
    this.countIdentity(session);
    this.byName.set(nameOf(client, token), session.numbering);
    this.context.stage({
      type: 'producer',
      at: this.context.recordTime,
      producer: session.producer,
      client,
      token,
    });
    return true;
  }

  /** Producers whose record is not durable yet are few: at most one for each session of the identity. */
  private isAtQuota({ identity }: ClientSession): boolean {
    if (identity === undefined) return false;
    const { ledger, limits } = this.context;
    return ledger.usages.get(identity).producers >= limits.producersPerIdentityMax;
  }

  private countIdentity({ identity, numbering }: ClientSession): void {
    if (identity !== undefined) numbering.load ??= this.context.uncommitted.loadOf(identity);
  }

  /** Whether the numbers of the session are still valid. */
  isCurrent(session: ClientSession): boolean {
    return session.producer === 0 || this.isLive(session.numbering);
  }

  /**
   * A submit of the session was staged a whole key window ago and is still being written. The ledger drops
   * the producer with the next record behind it, so no further submit may follow until it is applied.
   */
  isOverdue({ numbering }: ClientSession): boolean {
    return numbering.lastAt + this.context.limits.keyWindowMs <= this.context.recordTime;
  }

  /** The client has closed. */
  end(session: ClientSession): void {
    const { numbering } = session;
    if (session.producer === 0 || !this.isLive(numbering)) return;
    // Another connection of the same client may still be open here; no submit of it may follow the record.
    numbering.ended = true;
    this.byName.delete(nameOf(session.client, session.token));
    this.context.stage({
      type: 'producer_drop',
      at: this.context.recordTime,
      producers: [numbering.producer],
    });
  }

  private isLive(numbering: Numbering): boolean {
    const { ledger, limits } = this.context;
    if (numbering.ended) return false;
    // Its record is not durable yet.
    if (numbering.producer >= ledger.nextProducer) return true;
    // A submit that is being written was made in time, and begins the window anew.
    if (numbering.uncommitted.size > 0) return true;
    const producer = ledger.producers.get(numbering.producer);
    return producer !== undefined && producer.lastAt + limits.keyWindowMs > this.context.recordTime;
  }

  /** Producers that the ledger has dropped must not outnumber those it has. */
  private removeExpired(): void {
    const { ledger } = this.context;
    if (this.byName.size <= 2 * ledger.producers.size + 64) return;
    for (const [name, { producer }] of this.byName) {
      if (producer < ledger.nextProducer && !ledger.producers.has(producer)) this.byName.delete(name);
    }
  }
}

function nameOf(client: string, token: string): string {
  return `${client}\n${token}`;
}
