// Hot path: `encode` runs once per job.
import { checkOption, describe, number, rule, text } from '@troupe/core/option-check';
import { isDefinition, type JobDefinition } from '../job/define-job.js';
import { type JobPolicy, POLICY_CHECKS, RECORD_BYTES_MAX, type StreamingMode } from '../job/job-policy.js';
import { type Payload, payloadOfValue } from '../job/payload.js';
import { DEFAULT_STREAM, type StreamPolicy } from '../job/stream-policy.js';
import { type TraceContext, traceContextRule } from '../job/trace-context.js';
import { validateBySchema } from '../job/validate-by-schema.js';
import { JobDefinitionError, JobRefusedError } from '../jobs-error.js';
import { checkOptions, type Defaulted, definitionError, withDefaults, YEAR_MS } from '../option-check.js';
import { submitBytes } from '../protocol/submit-bytes.js';
import type { JobDefine } from './machine/client-machine.js';
import type { ItemDraft } from './machine/submit-draft.js';
import { WAIT_OPTIONS, type WaitOptions } from './wait-limit.js';

export interface SubmitOptions extends WaitOptions {
  /**
   * Idempotency key: the same key within the window is the same job. Default: that of the definition's `key`,
   * or none.
   */
  readonly key?: string | undefined;
  /** Not before this many milliseconds from now. Default 0. */
  readonly runAfterMs?: number | undefined;
  /**
   * Its chunks can be read while it runs. `response` waits for a slow reader; `internal` does not, and has
   * the output as an item. `true` is `response`. Default: chunks are only collected.
   */
  readonly streaming?: boolean | StreamingMode | undefined;
  /** How the leader keeps its chunks, in place of the definition's settings. */
  readonly stream?: Defaulted<StreamPolicy> | undefined;
  /**
   * The W3C trace context of the caller: the handler of every attempt has it. Default: that of the client's
   * `tracing`, or none.
   */
  readonly trace?: TraceContext | undefined;
}

const submitKey = text(512);
const streamingMode = rule("true, false, 'response' or 'internal'", (value) =>
  [true, false, 'response', 'internal'].includes(value as boolean),
);
export const SUBMIT_OPTIONS = {
  key: submitKey,
  runAfterMs: number(0, YEAR_MS),
  streaming: streamingMode,
  stream: POLICY_CHECKS.stream,
  trace: traceContextRule,
  ...WAIT_OPTIONS,
};
export const SUBMIT_ALL_OPTIONS = {
  runAfterMs: SUBMIT_OPTIONS.runAfterMs,
  trace: traceContextRule,
  ...WAIT_OPTIONS,
};
export const NO_OPTIONS: SubmitOptions = {};

/**
 * Turns inputs into submits: checked, encoded, with the reference under which the leader knows their
 * definition.
 */
export class SubmitPreparer {
  private readonly limits: { readonly payloadBytesMax: number };
  private readonly refs = new Map<JobDefinition, number>();
  /** By mode and settings: a job that streams has another policy, and costs no record more (ADR 0420). */
  private readonly streamingRefs = new Map<string, Map<JobDefinition, number>>();
  private lastRef = 0;
  private readonly define: (definition: JobDefine) => void;

  /** `define`: the leader has to know a definition before the first submit that refers to it. */
  constructor(limits: { readonly payloadBytesMax: number }, define: (definition: JobDefine) => void) {
    this.limits = limits;
    this.define = define;
  }

  /** Fills the draft: at once, where the schema is synchronous. */
  encode(
    draft: ItemDraft,
    job: JobDefinition,
    input: unknown,
    options: SubmitOptions,
  ): Promise<void> | undefined {
    if (options !== NO_OPTIONS) checkOptions('submit', options, SUBMIT_OPTIONS);
    draft.ref = this.refOf(job, options);
    const checked = validateBySchema(job.exec, 'input', job.input, input);
    if (checked instanceof Promise)
      return checked.then((value) => this.fill(draft, job, input, value, options));
    this.fill(draft, job, input, checked, options);
    return undefined;
  }

  /** Fills the draft with an input that is encoded already. */
  usePayload(draft: ItemDraft, job: JobDefinition, payload: Payload, options: SubmitOptions): void {
    this.mustFit(payload);
    draft.key = options.key ?? '';
    draft.ref = this.refOf(job, options);
    draft.payload = payload;
    draft.delayMs = options.runAfterMs ?? 0;
  }

  /**
   * The raw input travels, and the worker's schema transforms it once. The key is made of the checked value.
   */
  private fill(
    draft: ItemDraft,
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

  /** A larger batch fits into no record, and into no message to a leader. */
  mustFitRecord(items: readonly ItemDraft[]): void {
    const bytes = items.reduce((sum, item) => sum + submitBytes(item), 0);
    if (bytes <= RECORD_BYTES_MAX) return;
    const problem = `a batch of ${bytes} bytes, at most ${RECORD_BYTES_MAX}`;
    throw new JobRefusedError('ERR_PAYLOAD_TOO_LARGE', problem, 0);
  }

  /** Refused here, before it is sent. */
  private mustFit({ length }: Payload): void {
    const { payloadBytesMax } = this.limits;
    if (length <= payloadBytesMax) return;
    const size = `payload of ${length} bytes, at most ${payloadBytesMax}`;
    throw new JobRefusedError('ERR_PAYLOAD_TOO_LARGE', size, 0);
  }

  private refOf(job: JobDefinition, { streaming, stream }: SubmitOptions): number {
    const mode = streaming === true ? 'response' : streaming === false ? undefined : streaming;
    if (mode === undefined && stream !== undefined)
      throw new JobDefinitionError('submit', 'stream without streaming');
    const refs = mode === undefined ? this.refs : this.refsOf(mode, stream);
    let ref = refs.get(job);
    if (ref === undefined) {
      if (!isDefinition(job))
        throw new JobDefinitionError('submit', `needs a job made by defineJob, got ${describe(job)}`);
      if (mode !== undefined && job.chunk === undefined)
        throw new JobDefinitionError(`job '${job.exec}'`, 'it has no chunk schema, so it cannot stream');
      this.lastRef += 1;
      ref = this.lastRef;
      refs.set(job, ref);
      this.define({ ref, policy: policyOf(job, mode, stream) });
    }
    return ref;
  }

  private refsOf(mode: StreamingMode, stream: SubmitOptions['stream']): Map<JobDefinition, number> {
    const name = stream === undefined ? mode : `${mode} ${JSON.stringify(stream)}`;
    const refs = this.streamingRefs.get(name) ?? new Map<JobDefinition, number>();
    this.streamingRefs.set(name, refs);
    return refs;
  }
}

function policyOf(
  job: JobDefinition,
  mode: StreamingMode | undefined,
  stream: SubmitOptions['stream'],
): JobPolicy {
  if (mode === undefined) return job.policy;
  return { ...job.policy, streaming: mode, stream: withDefaults(job.stream ?? DEFAULT_STREAM, stream) };
}

/** The key travels to the leader and is kept there, so it must be a text. */
function keyOf(job: JobDefinition, checked: unknown): string {
  const key: unknown = job.key?.(checked);
  checkOption(`job '${job.exec}': the value of its key function`, key, submitKey, definitionError);
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
  throw new JobDefinitionError(
    `job '${job.exec}'`,
    `its input cannot be written as JSON: ${describe(input)}`,
  );
}
