import type { LeaderContext } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';
import type { Numbering } from './uncommitted-jobs.js';

/**
 * Who numbers submits. A client becomes a producer with its first submit and ends as one when it says goodbye: from then on nobody sends
 * one of its numbers again. One that vanishes is remembered for the window (ADR 0097).
 */
export class ProducerRegistry {
  private readonly context: LeaderContext;
  private readonly byName = new Map<string, Numbering>();
  private next: number;

  constructor(context: LeaderContext) {
    this.context = context;
    const { ledger } = context;
    this.next = ledger.nextProducer;
    for (const { no, client, token } of ledger.producers.values())
      this.byName.set(nameOf(client, token), { producer: no, high: 0, over: false });
  }

  /** A hello: whoever numbered submits before goes on with that. */
  resume(session: ClientSession): void {
    const known = this.byName.get(nameOf(session.client, session.token));
    if (known !== undefined && this.isLive(known)) session.numbers = known;
  }

  /** Before its first submit. False: there is no room for another. */
  enrol(session: ClientSession): boolean {
    this.resume(session);
    if (session.producer !== 0) return true;
    const { ledger, limits } = this.context;
    const known = ledger.producers.size + this.next - ledger.nextProducer;
    if (known >= limits.producersMax) return false;
    this.forget();
    const { client, token } = session;
    session.numbers = { producer: this.next, high: 0, over: false };
    this.next += 1;
    this.byName.set(nameOf(client, token), session.numbers);
    this.context.stage({
      type: 'producer',
      at: this.context.at(),
      producer: session.producer,
      client,
      token,
    });
    return true;
  }

  /** Whether what the session says under its numbers still counts. */
  isCurrent(session: ClientSession): boolean {
    return session.producer === 0 || this.isLive(session.numbers);
  }

  /** The client is closed for good. */
  leave(session: ClientSession): void {
    const { numbers } = session;
    if (session.producer === 0 || !this.isLive(numbers)) return;
    // Another connection of the same client may still be open here; nothing of it may follow the record.
    numbers.over = true;
    this.byName.delete(nameOf(session.client, session.token));
    this.context.stage({ type: 'producer_drop', at: this.context.at(), producers: [numbers.producer] });
  }

  private isLive(numbers: Numbering): boolean {
    const { ledger, limits } = this.context;
    if (numbers.over) return false;
    // Its record is in flight.
    if (numbers.producer >= ledger.nextProducer) return true;
    const producer = ledger.producers.get(numbers.producer);
    return producer !== undefined && producer.lastAt + limits.keyWindowMs > this.context.at();
  }

  /** Those the ledger has let go must not outnumber those it has. */
  private forget(): void {
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
