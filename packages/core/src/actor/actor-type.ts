import { legalNameOf } from '../actor-name-rule.js';
import { type AnyDefinition, type LooseSpec, PHASE_HOOKS } from '../define/actor-definition.js';
import { StaleContextError } from '../errors/error-classes.js';
import type { Delivery } from '../mailbox/delivery.js';
import { LEVELS } from '../mailbox/levelled-queue.js';
import type { Handler, MailboxSettings } from '../mailbox/mailbox-settings.js';
import type { OverflowPolicy } from '../mailbox/overflow-policy.js';
import { IDLE, SLOW_PATH } from '../mailbox/status-word.js';
import type { Pipeline } from '../middleware/pipeline.js';
import type { ActorCell } from './actor-cell.js';
import type { RemotePlaces, RuntimeParts } from './runtime-parts.js';

const THROUGHPUT_DEFAULT = 300;
/** Messages in a turn of a type whose speed is not known yet. */
const TURN_FIRST = 16;
const CAPACITY_DEFAULT = 1_000;
export const STOP_WITHIN_MS_DEFAULT = 5_000;

/** The hard limit of a mailbox that mutes its senders, in capacities. */
const HARD_LIMIT_FACTOR = 64;

function hardCapacityOf(overflow: OverflowPolicy, capacity: number): number {
  if (overflow === 'grow') return Number.POSITIVE_INFINITY;
  return overflow === 'mute-sender' ? HARD_LIMIT_FACTOR * capacity : capacity;
}

/** A definition in one system (and, with phases, in one phase): everything that its actors share. */
export class ActorType implements MailboxSettings {
  readonly handlers: readonly Handler[];
  /** Its number for other threads. */
  readonly monitored: number;
  readonly delivery: Delivery<ActorCell>;
  readonly capacity: number;
  readonly hardCapacity: number;
  readonly handlerCapacity: number;
  readonly lowWater: number;
  readonly overflow: OverflowPolicy;
  readonly throughput: number;
  turnMax: number;
  readonly levels: readonly number[] | undefined;
  readonly hasPipeline: boolean;
  readonly hasSendHook: boolean;
  /** Status of an idle actor of this type: SLOW_PATH when its messages must take the complete path. */
  readonly idleStatus: number;
  /** For the cell and its refs, and for the routers above them; the parts below are given what they touch. */
  readonly runtime: RuntimeParts;
  readonly definition: AnyDefinition;
  readonly spec: LooseSpec;
  readonly pipeline: Pipeline | undefined;
  readonly phase: string | undefined;
  /** The name of the definition as a part of a path. */
  readonly pathName: string;
  /** Some phase has an `enter` or `exit`. */
  readonly hasPhaseHooks: boolean;
  private readonly phases: Map<string, ActorType>;
  private refusedState: object | undefined = undefined;

  constructor(
    runtime: RuntimeParts,
    definition: AnyDefinition,
    pipeline: Pipeline | undefined,
    sibling?: ActorType,
    phase?: string,
  ) {
    const spec = definition['~spec'];
    const names = definition['~handlerNames'];
    this.runtime = runtime;
    const isProxy = definition['~represents'] !== undefined;
    this.delivery = isProxy ? (runtime.remote as RemotePlaces).delivery : runtime.delivery;
    this.definition = definition;
    this.pathName = legalNameOf(definition.name);
    this.spec = spec;
    this.pipeline = pipeline;
    this.phase = phase ?? Object.keys(spec.phases ?? {})[0];
    this.hasPhaseHooks = Object.values(spec.phases ?? {}).some(
      ({ enter, exit }) => enter !== undefined || exit !== undefined,
    );
    const { monitor } = runtime;
    this.monitored = monitor?.addType({ name: definition.name, handlers: names }) ?? 0;
    this.handlers = names.map((name, handler) => this.handlerFor(name, handler));
    this.capacity = spec.mailbox?.capacity ?? CAPACITY_DEFAULT;
    this.overflow = spec.mailbox?.overflow ?? 'mute-sender';
    this.hardCapacity = hardCapacityOf(this.overflow, this.capacity);
    this.handlerCapacity = this.overflow === 'mute-sender' ? Number.POSITIVE_INFINITY : this.hardCapacity;
    this.lowWater = Math.floor(this.capacity / 2);
    this.throughput = spec.throughput ?? THROUGHPUT_DEFAULT;
    this.turnMax = Math.min(this.throughput, TURN_FIRST);
    const levels = spec.mailbox?.levels as Readonly<Record<string, (typeof LEVELS)[number]>> | undefined;
    this.levels = levels && names.map((name) => LEVELS.indexOf(levels[name] ?? 'normal'));
    this.hasPipeline = pipeline !== undefined;
    this.hasSendHook = pipeline?.hasSendHook ?? false;
    const special = this.hasPipeline || this.levels !== undefined || spec.stashMax !== undefined;
    this.idleStatus = special ? SLOW_PATH : IDLE;
    this.phases = sibling?.phases ?? new Map();
    if (this.phase !== undefined) this.phases.set(this.phase, this);
  }

  /** In place of the state of an actor that has ended: every use of it is refused. */
  get endedState(): object {
    this.refusedState ??= refusedStateOf(this);
    return this.refusedState;
  }

  get name(): string {
    return this.definition.name;
  }

  /** The same type in another phase, or undefined when there is no such phase. */
  inPhase(phase: string): ActorType | undefined {
    const known = this.phases.get(phase);
    if (known !== undefined) return known;
    if (this.spec.phases?.[phase] === undefined) return undefined;
    return new ActorType(this.runtime, this.definition, this.pipeline, this, phase);
  }

  /** A restart begins in the first phase again. */
  get inFirstPhase(): ActorType {
    const first = Object.keys(this.spec.phases ?? {})[0];
    return first === undefined ? this : (this.inPhase(first) as ActorType);
  }

  private handlerFor(name: string, handler: number): Handler {
    const { missingPhaseHandlers, monitor } = this.runtime;
    const hasPhase = this.phase !== undefined && !PHASE_HOOKS.includes(name);
    const inPhase = hasPhase ? this.spec.phases?.[this.phase]?.[name] : undefined;
    const run = (inPhase ?? this.spec.handlers[name]) as Handler | undefined;
    if (run === undefined) return missingPhaseHandlers.handlerFor(name);
    return monitor === undefined ? run : monitor.watched(this.monitored, handler, run);
  }
}

/** It knows the definition only: one object stands for the states of all actors of a type. */
function refusedStateOf({ name, runtime }: ActorType): object {
  const refuse = (): never => {
    runtime.log.reportStaleContext({ path: name }, 'state');
    throw new StaleContextError(name, 'state');
  };
  return new Proxy(
    {},
    {
      get: refuse,
      set: refuse,
      has: refuse,
      deleteProperty: refuse,
      defineProperty: refuse,
      ownKeys: refuse,
      getOwnPropertyDescriptor: refuse,
      getPrototypeOf: refuse,
    },
  );
}
