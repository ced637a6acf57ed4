import type { Client } from '@troupe/jobs';
import { payloadText } from '#src/job/payload/payload.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import type { ClientMessage } from '#src/protocol/client/client-messages.js';
import type { RecordModel } from '../record-model.js';
import type { LeaderProbe } from '../simulated-leaders.js';
import type { Simulation } from '../simulation.js';

interface Setup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
}

const JOBS_MAX = 5;
const WITHIN_MS = 600;
/** A job that is due later would hold up the end of the run. */
const FAR_MS = 2_000;
const LOOK_MS = 100;
/** Of a call after the faults: the leader may be away for a while. */
const HEAL_MS = 50_000;
const NAME = /^"timed /;

/** The reason of a job whose clock was set back before it was submitted. */
export const TOO_LATE = 'its instant is too far away';

/** Jobs that are submitted with the instant of their start, and clocks of leaders that are set meanwhile. */
export class TimedJobs {
  private readonly setup: Setup;
  private readonly random: () => number;
  private readonly isOn: boolean;
  /** The instants in record time, by the clock of each leader that has got the submit. */
  private readonly instants = new Map<string, number[]>();

  constructor(setup: Setup, isGiven: boolean) {
    this.setup = setup;
    this.random = setup.simulation.stream('instants');
    this.isOn = this.random() < 0.4 || isGiven;
  }

  /** When a client submits one. */
  submitTimes(withinMs: number): number[] {
    const count = this.isOn ? 1 + Math.floor(this.random() * JOBS_MAX) : 0;
    return Array.from({ length: count }, () => this.random() * Math.max(0, withinMs));
  }

  /** By the clock of the leader, which may be set before it gets the submit. */
  draw({ clock }: LeaderProbe): number {
    return clock.wallNow() - 50 + Math.floor(this.random() * WITHIN_MS);
  }

  /** A leader gets a submit. */
  submitted(message: ClientMessage & { readonly kind: 'submit' }, { wallStepMs }: LeaderProbe): void {
    for (const { payload, runAt } of message.items) {
      if (runAt === undefined) continue;
      const text = payloadText(payload);
      this.instants.set(text, [...(this.instants.get(text) ?? []), runAt - wallStepMs]);
    }
  }

  /** The instant holds by the clock of its leader; one that is over begins at once. */
  take(record: LedgerRecord): void {
    if (record.type !== 'enqueue') return;
    const text = payloadText(record.payload);
    if (!NAME.test(text)) return;
    const instants = this.instants.get(text) ?? [];
    const { at, dueAt, job } = record;
    const fits = (instant: number): boolean =>
      dueAt === 0 ? instant <= at + 1 : Math.abs(instant - dueAt) <= 2;
    if (!instants.some(fits))
      this.setup.simulation.problem(`job ${job} is due at ${dueAt}, its instant is ${instants.join(' or ')}`);
  }

  /** After the faults: jobs whose clock was set back are cancelled, as soon as they are accepted. */
  heal(client: Client, leader: () => LeaderProbe | undefined): void {
    if (!this.isOn) return;
    const { simulation, records } = this.setup;
    const far = (leader()?.recordTime ?? Number.POSITIVE_INFINITY) + FAR_MS;
    for (const { no, payload, state, since } of records.jobs.values())
      if (NAME.test(payload) && state === 'queued' && since > far)
        client.cancel(no, TOO_LATE, { withinMs: HEAL_MS }).catch((error: unknown) => {
          // An earlier look has cancelled it, and its time is over; a job that is queued is never called unknown.
          if ((error as { readonly code?: unknown }).code === 'ERR_JOB_UNKNOWN') return;
          simulation.problem(`cancel of job ${no}: ${String(error)}`);
        });
    simulation.at(simulation.now + LOOK_MS, undefined, () => this.heal(client, leader));
  }
}
