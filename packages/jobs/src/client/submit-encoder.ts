// Hot path: `fill` runs once per job.
import { isDefinition, type JobDefinition } from '../job/define-job.js';
import { type Payload, payloadOfValue } from '../job/payload.js';
import { checkValue } from '../job/schema-check.js';
import { JobDefinitionError, JobRefusedError } from '../jobs-error.js';
import { checkOptions, numberWithin, show, text, YEAR_MS } from '../option-check.js';
import type { ClientMessage, Refusal } from '../protocol/client-messages.js';
import type { Draft } from './outstanding.js';
import { WAIT_OPTIONS, type WaitOptions } from './wait-limit.js';

export interface SubmitOptions extends WaitOptions {
  /** Idempotency key: the same key within the window is the same job. */
  readonly key?: string;
  /** Not before this many milliseconds from now. */
  readonly runAfterMs?: number;
}

const isKey = text(512);
export const SUBMIT_OPTIONS = { key: isKey, runAfterMs: numberWithin(0, YEAR_MS), ...WAIT_OPTIONS };
export const SUBMIT_ALL_OPTIONS = { runAfterMs: SUBMIT_OPTIONS.runAfterMs, ...WAIT_OPTIONS };
export const NO_OPTIONS: SubmitOptions = {};

/** Turns inputs into submits: checked, encoded, under the number by which the leader knows their definition. */
export class Drafter {
  /** As the leader said at the last hello. */
  payloadBytesMax = Number.POSITIVE_INFINITY;
  private readonly refs = new Map<JobDefinition, number>();
  /** Those for which the leader had no room: said again with the next submit. */
  private readonly unplaced = new Set<number>();
  private readonly send: (message: ClientMessage) => void;

  constructor(send: (message: ClientMessage) => void) {
    this.send = send;
  }

  /** Writes what is submitted into the draft: at once, where the schema is synchronous. */
  fill(draft: Draft, job: JobDefinition, input: unknown, options: SubmitOptions): Promise<void> | undefined {
    if (options !== NO_OPTIONS) checkOptions('submit', options, SUBMIT_OPTIONS);
    draft.ref = this.refOf(job);
    const checked = checkValue(job.exec, 'input', job.input, input);
    if (checked instanceof Promise)
      return checked.then((value) => this.fillIn(draft, job, input, value, options));
    this.fillIn(draft, job, input, checked, options);
    return undefined;
  }

  /** As `fill` for an input that is encoded already. */
  fillWith(draft: Draft, job: JobDefinition, payload: Payload, options: SubmitOptions): void {
    this.mustFit(payload);
    draft.key = options.key ?? '';
    draft.ref = this.refOf(job);
    draft.payload = payload;
    draft.delayMs = options.runAfterMs ?? 0;
  }

  /** The connection is new: the leader's session knows no definition yet. */
  announce(): void {
    this.unplaced.clear();
    for (const [job, ref] of this.refs) this.send({ kind: 'define', ref, policy: job.policy });
  }

  refused(ref: number, { code }: Refusal): void {
    if (code === 'ERR_POLICIES_FULL') this.unplaced.add(ref);
  }

  /** The input travels as it was given; the worker's schema transforms it once. The key is of the checked value. */
  private fillIn(
    draft: Draft,
    job: JobDefinition,
    input: unknown,
    checked: unknown,
    options: SubmitOptions,
  ): void {
    draft.key = options.key ?? (job.key === undefined ? '' : keyOf(job, checked));
    draft.payload = encodeInput(job, input);
    this.mustFit(draft.payload);
    draft.delayMs = options.runAfterMs ?? 0;
  }

  /** Refused here rather than after it has been sent. */
  private mustFit({ length }: Payload): void {
    if (length <= this.payloadBytesMax) return;
    const size = `payload of ${length} bytes, at most ${this.payloadBytesMax}`;
    throw new JobRefusedError('ERR_PAYLOAD_TOO_LARGE', size, 0);
  }

  private refOf(job: JobDefinition): number {
    let ref = this.refs.get(job);
    if (ref === undefined) {
      if (!isDefinition(job))
        throw new JobDefinitionError('submit', `needs a job made by defineJob, got ${show(job)}`);
      ref = this.refs.size + 1;
      this.refs.set(job, ref);
      this.send({ kind: 'define', ref, policy: job.policy });
    } else if (this.unplaced.size > 0 && this.unplaced.delete(ref)) {
      this.send({ kind: 'define', ref, policy: job.policy });
    }
    return ref;
  }
}

/** What it returns travels to the leader and is kept there: a text, or the caller is told. */
function keyOf(job: JobDefinition, checked: unknown): string {
  const key: unknown = job.key?.(checked);
  const problem = isKey(key);
  if (problem !== undefined)
    throw new JobDefinitionError(`job '${job.exec}'`, `what its key returns ${problem}`);
  return key as string;
}

function encodeInput(job: JobDefinition, input: unknown): Payload {
  let payload: Payload | undefined;
  try {
    payload = payloadOfValue(input);
  } catch (error) {
    const [reason] = (error as Error).message.split('\n');
    throw new JobDefinitionError(`job '${job.exec}'`, `its input cannot be written as JSON: ${reason}`);
  }
  if (payload !== undefined) return payload;
  throw new JobDefinitionError(`job '${job.exec}'`, `its input cannot be written as JSON: ${show(input)}`);
}
