import type { ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';
import type { ToWorker, WorkerMessage } from '#src/protocol/worker/worker-messages.js';
import type { RecordModel } from '../record-model.js';
import type { LeaderProbe } from '../simulated-leaders.js';
import type { SimulatedMachine, Simulation } from '../simulation.js';
import { BatchedJobs } from './batched-jobs.js';
import { FilteredRedrives } from './filtered-redrives.js';
import { StoppedWorkers } from './stopped-workers.js';
import { TimedJobs } from './timed-jobs.js';

interface Setup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
  readonly keep: { readonly doneMs?: number; readonly deadMs?: number };
  /** Each of them is drawn, for planted bugs. */
  readonly areGiven: boolean;
  leader(): LeaderProbe | undefined;
  leaderHasRunFor(ms: number): boolean;
  redriveCalled(jobs: readonly number[]): void;
  ran(job: number, attempt: number, worker: string): void;
}

/** Stops of workers, batches, instants and redrives by filter: what is sent about them, and their records. */
export class Controls {
  readonly stops: StoppedWorkers;
  readonly batches: BatchedJobs;
  readonly timed: TimedJobs;
  readonly redrives: FilteredRedrives;

  constructor(setup: Setup) {
    const { records, areGiven } = setup;
    this.stops = new StoppedWorkers({ ...setup, leaderStarts: () => records.leaderStarts }, areGiven);
    this.batches = new BatchedJobs(setup, areGiven);
    this.timed = new TimedJobs(setup, areGiven);
    this.redrives = new FilteredRedrives(setup, areGiven);
    records.onRecord = (record) => {
      if (record.type === 'assign') this.stops.assigned(record);
      this.batches.take(record);
      this.timed.take(record);
    };
  }

  get isSettled(): boolean {
    return this.stops.isSettled && this.redrives.isSettled;
  }

  clientCrashed(machine: SimulatedMachine): void {
    this.stops.clientCrashed(machine);
  }

  /** A message reaches a leader. */
  received(message: ClientMessage | WorkerMessage, peer: string, leader: LeaderProbe | undefined): void {
    if (leader === undefined) return;
    if (message.kind === 'submit') this.timed.submitted(message, leader);
    if (message.kind !== 'call') return;
    const call = `${peer} ${message.call}`;
    const { request } = message;
    if (request.kind === 'worker-stop') this.stops.requested(call, request, leader);
    if (request.kind === 'redrive' && peer.startsWith(REDRIVER)) this.redrives.requested(call, request.jobs);
  }

  /** A message leaves a leader. */
  sent(message: ToWorker | ToClient, peer: string, leader: LeaderProbe | undefined): void {
    if (message.kind === 'answer' && leader !== undefined)
      this.stops.answered(`${peer} ${message.call}`, message.answer, leader);
  }
}

/** The machine of the operator that redrives by filter. */
export const REDRIVER = 'redriver';
