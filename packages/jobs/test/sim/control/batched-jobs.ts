import {
  type BatchItem,
  type BatchOutcome,
  defineJob,
  type HandledJob,
  handleMany,
  NonRetryableError,
} from '@troupe/jobs';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import { aString } from '../../plain-schema.js';
import { expected } from '../history-checker.js';
import type { RecordModel } from '../record-model.js';
import type { SimulatedMachine, Simulation } from '../simulation.js';

interface Setup {
  readonly simulation: Simulation;
  readonly records: RecordModel;
  readonly keep: { readonly doneMs?: number; readonly deadMs?: number };
  ran(job: number, attempt: number, worker: string): void;
}

type Job = ReturnType<typeof jobOf>;
type Outcome = 'output' | 'failed' | 'final' | 'stopped';

const OUTCOMES: readonly Outcome[] = ['output', 'output', 'output', 'failed', 'failed', 'final', 'stopped'];
const BURSTS_MAX = 3;
const BURST_JOBS_MAX = 6;
const BATCH_MAX = 4;
const STOP_CODE = 'ERR_SIM_STOP';

function jobOf(keep: Setup['keep']) {
  return defineJob('sim.batched', {
    group: 'main',
    input: aString,
    output: aString,
    leaseMs: 400,
    limits: { runMs: 1_500 },
    retry: { attempts: 4, baseMs: 20, capMs: 200, crashes: 3, stopOn: [STOP_CODE] },
    keep,
  });
}

/** Jobs that are handled in batches; each has the outcome that its handler gave to it. */
export class BatchedJobs {
  readonly job: Job;
  private readonly setup: Setup;
  private readonly random: () => number;
  private readonly isOn: boolean;
  private readonly max: number;
  /** By job and attempt. */
  private readonly outcomes = new Map<string, Outcome>();

  constructor(setup: Setup, isGiven: boolean) {
    this.setup = setup;
    this.random = setup.simulation.stream('batches');
    this.isOn = this.random() < 0.4 || isGiven;
    this.max = 1 + Math.floor(this.random() * BATCH_MAX);
    this.job = jobOf(setup.keep);
  }

  /** When a client submits several at once, and how many. */
  bursts(withinMs: number): { readonly ms: number; readonly jobs: number }[] {
    const count = this.isOn ? 1 + Math.floor(this.random() * BURSTS_MAX) : 0;
    return Array.from({ length: count }, () => ({
      ms: this.random() * Math.max(0, withinMs),
      jobs: 1 + Math.floor(this.random() * BURST_JOBS_MAX),
    }));
  }

  /** Of one process of a worker. */
  handled(machine: SimulatedMachine, slots: { handlers: number; readonly slots: number }): HandledJob {
    const { simulation } = this.setup;
    let isRunning = false;
    return handleMany(
      this.job,
      async (items) => {
        if (isRunning) simulation.problem(`${machine.name} runs two batches at once`);
        isRunning = true;
        slots.handlers += items.length;
        this.checkBatch(items, slots);
        for (const { context } of items) this.setup.ran(numberOf(context), context.attempt, machine.name);
        try {
          await this.sleep(machine, this.random() * 120);
          return this.outcomesOf(items);
        } finally {
          isRunning = false;
          slots.handlers -= items.length;
        }
      },
      { max: this.max },
    );
  }

  /** The end of an attempt is the one that its handler gave to it; without a handler's end, it is another. */
  take(record: LedgerRecord): void {
    if (record.type !== 'ack' && record.type !== 'retry' && record.type !== 'dlq') return;
    const outcome = this.outcomes.get(`${record.job}.${record.attempt}`);
    if (this.setup.records.jobs.get(record.job)?.policy.exec !== this.job.exec) return;
    const end = record.type === 'dlq' ? record.reason : record.type;
    const fitting = FITTING[end];
    if (fitting !== undefined && !fitting.includes(outcome))
      this.setup.simulation.problem(
        `attempt ${record.job}.${record.attempt} of a batch ended with ${outcome}, its record is ${end}`,
      );
  }

  private checkBatch(
    items: readonly BatchItem<Job>[],
    { handlers, slots }: { readonly handlers: number; readonly slots: number },
  ): void {
    const { simulation } = this.setup;
    if (items.length === 0 || items.length > this.max)
      simulation.problem(`a batch has ${items.length} jobs, ${this.max} are allowed`);
    if (handlers > slots) simulation.problem(`${handlers} handlers with ${slots} slots`);
    for (const { context } of items)
      if (context.signal.aborted)
        simulation.problem(`job ${numberOf(context)} is aborted, and begins in a batch`);
  }

  private outcomesOf(items: readonly BatchItem<Job>[]): BatchOutcome<Job>[] {
    const isFailed = this.random() < 0.1;
    const drawn = items.map(() =>
      isFailed ? 'failed' : (OUTCOMES[Math.floor(this.random() * OUTCOMES.length)] ?? 'output'),
    );
    items.forEach(({ context }, at) => {
      this.outcomes.set(`${numberOf(context)}.${context.attempt}`, drawn[at] ?? 'output');
    });
    if (isFailed) throw new Error('the whole batch fails');
    return items.map(({ input, context }, at) => {
      switch (drawn[at]) {
        case 'failed':
          return new Error('fails in its batch');
        case 'final':
          return new NonRetryableError('do not try again');
        case 'stopped':
          return Object.assign(new Error('this code is not tried again'), { code: STOP_CODE });
        default:
          return { output: expected({ payload: input }, context.attempt) };
      }
    });
  }

  private sleep(machine: SimulatedMachine, ms: number): Promise<void> {
    const { simulation } = this.setup;
    return new Promise((resolve) => simulation.at(simulation.now + ms, machine, resolve));
  }
}

/** The outcomes of a handler that a record may follow. */
const FITTING: Readonly<Record<string, readonly (Outcome | undefined)[]>> = {
  ack: ['output'],
  retry: ['failed'],
  failed: ['failed'],
  final: ['final', 'stopped'],
};

function numberOf({ jobId }: { readonly jobId: string }): number {
  return Number.parseInt(jobId.split('-')[1] ?? '', 36);
}
