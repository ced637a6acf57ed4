// Hot path: `encode` runs once per job.
import { checkOption, describe, flag, number, rule, text } from '@troupe/core/option-check';
import { isDefinition, type JobDefinition } from '../../job/definition/define-job.js';
import {
  type JobPolicy,
  orderFields,
  orderKeyRule,
  POLICY_CHECKS,
  RECORD_BYTES_MAX,
  type StreamingMode,
} from '../../job/definition/job-policy.js';
import { DEFAULT_STREAM, type StreamPolicy } from '../../job/definition/stream-policy.js';
import { validateBySchema } from '../../job/definition/validate-by-schema.js';
import { type Payload, payloadOfValue } from '../../job/payload/payload.js';
import { tagsProblem } from '../../job/tags-problem.js';
import { type TraceContext, traceContextRule } from '../../job/trace-context.js';
import { JobDefinitionError, JobRefusedError } from '../../jobs-error.js';
import { checkOptions, type Defaulted, definitionError, withDefaults, YEAR_MS } from '../../option-check.js';
import { submitBytes } from '../../protocol/client/submit-bytes.js';
import { WAIT_OPTIONS, type WaitOptions } from '../calls/wait-limit.js';
import type { JobDefine } from '../machine/client-machine.js';
import type { ItemDraft } from '../machine/submit-draft.js';

export interface SubmitOptions extends WaitOptions {
  /**
   * Idempotency key: the same key within the window is the same job. Default: that of the definition's `key`,
   * or none.
   */
  readonly key?: string | undefined;
  /** Keeps the key until `client.releaseKeys`, whatever the key window. Default false. */
  readonly holdKey?: boolean | undefined;
  /** Not before this many milliseconds from now. Default 0. */
  readonly runAfterMs?: number | undefined;
  /**
   * Not before this instant: a Date, or milliseconds since 1970, by the leader's clock. Default: none; give
   * this or `runAfterMs`.
   */
  readonly runAt?: Date | number | undefined;
  /** Texts to find the job by, at most 16 of 64 characters without blanks. Default: none. */
  readonly tags?: readonly string[] | undefined;
  /**
   * Its chunks can be read while it runs. `response` waits for a slow reader; `internal` does not, and has
   * the output as an item. `true` is `response`. Default: chunks are only collected.
   */
  readonly streaming?: boolean | StreamingMode | undefined;
  /** From 0 to 9; jobs of 9 begin first. Default: that of the definition. */
  readonly priority?: number | undefined;
  /** The time within which its first attempt must begin. Default: that of the definition, or no limit. */
  readonly startWithinMs?: number | undefined;
  /** Labels that its worker must have. Default: those of the definition. */
  readonly requires?: readonly string[] | undefined;
  /** Jobs of one key run in their order. Default: that of the definition's `orderKey`, or none. */
  readonly orderKey?: string | undefined;
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
const instant = rule('a Date or milliseconds since 1970', (value) => Number.isFinite(Number(value)));
const tagList = rule(
  'at most 16 texts of 1 to 64 characters without blanks',
  (value) => Array.isArray(value) && tagsProblem(value) === undefined,
);
const ORDER_OPTIONS = {
  runAt: instant,
  tags: tagList,
  priority: POLICY_CHECKS.priority,
  startWithinMs: POLICY_CHECKS.startWithinMs,
  requires: POLICY_CHECKS.requires,
  orderKey: orderKeyRule,
};
export const SUBMIT_OPTIONS = {
  key: submitKey,
  holdKey: flag,
  runAfterMs: number(0, YEAR_MS),
  streaming: streamingMode,
  stream: POLICY_CHECKS.stream,
  trace: traceContextRule,
  ...ORDER_OPTIONS,
  ...WAIT_OPTIONS,
};
export const SUBMIT_ALL_OPTIONS = {
  runAfterMs: SUBMIT_OPTIONS.runAfterMs,
  trace: traceContextRule,
  ...ORDER_OPTIONS,
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
  /**
   * By the options of a submit that stand in place of the definition's: such a job has another policy, and
   * costs no record more (ADR 0420).
   */
  private readonly otherRefs = new Map<string, Map<JobDefinition, number>>();
  private lastRef = 0;
  private readonly wallNow: () => number;
  private readonly define: (definition: JobDefine) => void;

  /** `define`: the leader has to know a definition before the first submit that refers to it. */
  constructor(
    limits: { readonly payloadBytesMax: number },
    define: (definition: JobDefine) => void,
    wallNow: () => number,
  ) {
    this.limits = limits;
    this.wallNow = wallNow;
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
    draft.orderKey = options.orderKey;
    this.fillTime(draft, options);
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
    draft.orderKey = options.orderKey ?? (job.orderKey === undefined ? undefined : orderKeyOf(job, checked));
    this.fillTime(draft, options);
  }

  /** A leader that does not know the instant has the delay until then. */
  private fillTime(draft: ItemDraft, { runAt, runAfterMs, tags, holdKey }: SubmitOptions): void {
    if (holdKey === true) draft.holdsKey = true;
    if (tags !== undefined && tags.length > 0) draft.tags = tags;
    if (runAt === undefined) return;
    if (runAfterMs !== undefined)
      throw new JobDefinitionError('submit', 'runAt and runAfterMs are both given');
    draft.runAt = Number(runAt);
    draft.delayMs = Math.min(YEAR_MS, Math.max(0, draft.runAt - this.wallNow()));
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

  private refOf(job: JobDefinition, options: SubmitOptions): number {
    if (options === NO_OPTIONS) return this.refs.get(job) ?? this.addRef(this.refs, job, {});
    const other = othersOf(options);
    const refs = other === undefined ? this.refs : this.refsOf(other);
    return refs.get(job) ?? this.addRef(refs, job, other ?? {});
  }

  private addRef(refs: Map<JobDefinition, number>, job: JobDefinition, other: PolicyOptions): number {
    if (!isDefinition(job))
      throw new JobDefinitionError('submit', `needs a job made by defineJob, got ${describe(job)}`);
    if (other.streaming !== undefined && job.chunk === undefined)
      throw new JobDefinitionError(`job '${job.exec}'`, 'it has no chunk schema, so it cannot stream');
    this.lastRef += 1;
    refs.set(job, this.lastRef);
    this.define({ ref: this.lastRef, policy: policyOf(job, other) });
    return this.lastRef;
  }

  private refsOf(other: PolicyOptions): Map<JobDefinition, number> {
    const name = JSON.stringify(other);
    const refs = this.otherRefs.get(name) ?? new Map<JobDefinition, number>();
    this.otherRefs.set(name, refs);
    return refs;
  }
}

/** The options of a submit that are part of the policy of its job. */
interface PolicyOptions {
  readonly streaming?: StreamingMode | undefined;
  readonly stream?: SubmitOptions['stream'];
  readonly priority?: number | undefined;
  readonly startWithinMs?: number | undefined;
  readonly requires?: readonly string[] | undefined;
  readonly ordered?: true | undefined;
}

/** Undefined: the policy is that of the definition. */
function othersOf(options: SubmitOptions): PolicyOptions | undefined {
  const { streaming, stream, priority, startWithinMs, requires, orderKey } = options;
  const mode = streaming === true ? 'response' : streaming === false ? undefined : streaming;
  if (mode === undefined && stream !== undefined)
    throw new JobDefinitionError('submit', 'stream without streaming');
  const order = priority ?? startWithinMs ?? requires ?? orderKey;
  if (mode === undefined && order === undefined) return undefined;
  const ordered = orderKey === undefined ? undefined : (true as const);
  return { streaming: mode, stream, priority, startWithinMs, requires, ordered };
}

function policyOf(job: JobDefinition, other: PolicyOptions): JobPolicy {
  const { policy } = job;
  const { streaming, stream, priority, startWithinMs, requires, ordered } = other;
  const { priority: _p, startWithinMs: _s, requires: _r, ordered: _o, sticky, ...rest } = policy;
  const order = orderFields({
    priority: priority ?? policy.priority,
    startWithinMs: startWithinMs ?? policy.startWithinMs,
    requires: requires ?? policy.requires,
    ordered: ordered ?? policy.ordered,
    sticky,
  });
  if (streaming === undefined) return { ...rest, ...order };
  return { ...rest, ...order, streaming, stream: withDefaults(job.stream ?? DEFAULT_STREAM, stream) };
}

/** The order key travels and is kept in the same way. */
function orderKeyOf(job: JobDefinition, checked: unknown): string {
  const key: unknown = job.orderKey?.(checked);
  checkOption(`job '${job.exec}': the value of its orderKey function`, key, orderKeyRule, definitionError);
  return key as string;
}

/** The key travels to the leader and is kept there, so it must be a text. */
function keyOf(job: JobDefinition, checked: unknown): string {
  const key: unknown = job.key?.(checked);
  checkOption(`job '${job.exec}': the value of its key function`, key, submitKey, definitionError);
  return key as string;
}

/** The input as it travels. Throws where JSON cannot hold it. */
export function encodeInput(job: JobDefinition, input: unknown): Payload {
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
