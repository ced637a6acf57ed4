import { Ring } from '../../collections/ring.js';
import { payloadBytes } from '../../job/payload/payload.js';
import { StoredPayload } from '../../job/payload/stored-payload.js';
import {
  type AdminAnswer,
  type AdminRequest,
  INPUT_PART_BYTES_MAX,
} from '../../protocol/client/admin-messages.js';
import type { LeaderJob, LeaderParts } from '../leader-context.js';
import type { ClientSession } from '../sessions/client-session.js';

type InputRequest = AdminRequest & { readonly kind: 'input' };

/** A part of a stored input, as the effect brings it. */
export interface InputRead {
  readonly error: Error | null;
  readonly bytes: Uint8Array;
}

interface PendingRead {
  readonly session: ClientSession;
  readonly call: number;
  readonly from: number;
  readonly max: number;
  readonly payload: StoredPayload;
}

/**
 * Parts of the inputs of jobs, for people who look at them. Inputs on the disk are read one after the other:
 * memory is bounded, and jobs come first.
 */
export class JobInputs {
  private readonly effects: LeaderParts<'effects'>['effects'];
  private readonly answer: (session: ClientSession, call: number, answer: AdminAnswer) => void;
  private readonly waiting = new Ring<PendingRead>();
  private reading: PendingRead | undefined = undefined;

  constructor(
    effects: LeaderParts<'effects'>['effects'],
    answer: (session: ClientSession, call: number, answer: AdminAnswer) => void,
  ) {
    this.effects = effects;
    this.answer = answer;
  }

  serve(session: ClientSession, call: number, request: InputRequest, { payload, state }: LeaderJob): void {
    const { from } = request;
    const max = Math.min(request.max, INPUT_PART_BYTES_MAX);
    // The input of a job that is done or cancelled is not kept.
    const isKept = state !== 'done' && state !== 'cancelled';
    if (!isKept) return this.answer(session, call, partOf(0, 0, new Uint8Array()));
    if (!(payload instanceof StoredPayload)) {
      const bytes = payloadBytes(payload);
      return this.answer(session, call, partOf(from, bytes.length, bytes.subarray(from, from + max)));
    }
    this.waiting.push({ session, call, from, max, payload });
    this.readNext();
  }

  read({ error, bytes }: InputRead): void {
    const { reading } = this;
    this.reading = undefined;
    if (reading !== undefined && !reading.session.closed) {
      const { session, call, from, payload } = reading;
      const problem = `the input cannot be read: ${error?.message}`;
      this.answer(
        session,
        call,
        error === null ? partOf(from, payload.length, bytes) : { kind: 'unsupported', problem },
      );
    }
    this.readNext();
  }

  private readNext(): void {
    if (this.reading !== undefined) return;
    const next = this.waiting.shift();
    if (next === undefined) return;
    this.reading = next;
    const { payload, from, max } = next;
    this.effects.readInput(payload, from, max);
  }
}

function partOf(from: number, total: number, bytes: Uint8Array): AdminAnswer {
  const base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');
  return { kind: 'input', from, total, base64 };
}
