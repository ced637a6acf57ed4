import type { AdminAnswer, AdminRequest } from '../../protocol/client/admin-messages.js';
import type { ClientMessage } from '../../protocol/client/client-messages.js';
import type { ClientEffects } from './client-effects.js';

/** An admin request of one call. */
export interface CallRequest {
  readonly call: number;
  readonly request: AdminRequest;
}

/**
 * Admin requests to the leader, each kept until it is answered or abandoned: after a reconnect they are
 * repeated. Each can be repeated without a second effect.
 */
export class PendingRequests {
  private readonly requests = new Map<number, { readonly request: AdminRequest; isRepeated: boolean }>();
  private readonly write: (message: ClientMessage) => void;
  private readonly effects: Pick<ClientEffects, 'answered'>;

  constructor(write: (message: ClientMessage) => void, effects: Pick<ClientEffects, 'answered'>) {
    this.write = write;
    this.effects = effects;
  }

  add({ call, request }: CallRequest): void {
    this.requests.set(call, { request, isRepeated: false });
    this.write({ kind: 'call', call, request });
  }

  remove(call: number): void {
    this.requests.delete(call);
  }

  answered(call: number, answer: AdminAnswer): void {
    const known = this.requests.get(call);
    if (known === undefined) return;
    this.requests.delete(call);
    this.effects.answered(call, { answer, isRepeated: known.isRepeated });
  }

  /** For a new connection. */
  repeat(): void {
    for (const [call, known] of this.requests) {
      known.isRepeated = true;
      this.write({ kind: 'call', call, request: known.request });
    }
  }

  clear(): void {
    this.requests.clear();
  }
}
