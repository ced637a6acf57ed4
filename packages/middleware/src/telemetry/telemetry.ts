import { context, type MeterProvider, ROOT_CONTEXT, type TracerProvider } from '@opentelemetry/api';
import {
  type ActorSystem,
  type Host,
  type InvokeResult,
  type DeadLetterView,
  type MessageView,
  type Middleware,
  MisuseError,
  type Outcome,
  type SendView,
  type TurnView,
} from '@troupe/core';
import type { Equipment } from '../equip.js';
import { NoTelemetrySdkError } from '../errors.js';
import { aName, onlyKnown, whole } from '../option-check.js';
import { LabelSets } from './label-sets.js';
import { Metering } from './metering.js';
import { registeredSdk, type Warn } from './sdk.js';
import { SystemMetrics } from './system-metrics.js';
import { Tracing } from './tracing.js';
import { Trail } from './trail.js';
import { WallClock } from './wall-clock.js';

export interface TelemetryOptions {
  readonly name?: string;
  /** Default: what an SDK has registered. */
  readonly tracerProvider?: TracerProvider;
  /** Default: what an SDK has registered. */
  readonly meterProvider?: MeterProvider;
  /** A span for the send as well as one for the handling. Default true. */
  readonly producerSpans?: boolean;
  /** Pairs of actor and message with labels of their own; the rest share `_OTHER`. Default 1,000. */
  readonly labelsMax?: number;
  /** Throws ERR_NO_TELEMETRY_SDK instead of doing nothing when no SDK is registered. Default false. */
  readonly required?: boolean;
  /** Told when a second copy of the api hides the SDK. Default: a warning of the process, once. */
  readonly warn?: Warn;
}

const SCOPE = '@troupe/middleware';

/**
 * OpenTelemetry spans and metrics. It looks for a registered SDK when it is called, so register the SDK first; without
 * one it has no hooks, records nothing and costs nothing. Use it with `createEquippedSystem`, which also exports what
 * the system and the other middleware know, and keeps the traces of unrelated callers apart.
 */
export function telemetry(options: TelemetryOptions = {}): Equipment {
  onlyKnown('telemetry', options, [
    'name',
    'tracerProvider',
    'meterProvider',
    'producerSpans',
    'labelsMax',
    'required',
    'warn',
  ]);
  const name = aName('telemetry.name', options.name ?? 'telemetry');
  const labels = new LabelSets(whole('telemetry.labelsMax', options.labelsMax ?? 1_000, 1));
  const sdk = registeredSdk(options.warn);
  const tracers = options.tracerProvider ?? sdk.tracers;
  const meters = options.meterProvider ?? sdk.meters;
  if (tracers === undefined && meters === undefined) {
    if (options.required === true) throw new NoTelemetrySdkError('no SDK is registered');
    return { name };
  }
  return new Telemetry(name, labels, tracers, meters, options.producerSpans ?? true).equipment();
}

class Telemetry {
  private readonly name: string;
  private readonly labels: LabelSets;
  private readonly tracing: Tracing | undefined = undefined;
  private readonly metering: Metering | undefined = undefined;
  private readonly system: SystemMetrics | undefined = undefined;
  private readonly clock = new WallClock();
  private attachedTo: string | undefined = undefined;

  constructor(
    name: string,
    labels: LabelSets,
    tracers: TracerProvider | undefined,
    meters: MeterProvider | undefined,
    producerSpans: boolean,
  ) {
    this.name = name;
    this.labels = labels;
    if (tracers !== undefined)
      this.tracing = new Tracing(tracers.getTracer(SCOPE), this.clock, labels, producerSpans);
    if (meters !== undefined) {
      const meter = meters.getMeter(SCOPE);
      this.metering = new Metering(meter, labels);
      this.system = new SystemMetrics(meter, labels, this.metering, () => this.clock.now());
    }
  }

  equipment(): Equipment {
    return {
      name: this.name,
      onSend: this.onSend,
      beforeMessage: this.beforeMessage,
      afterMessage: this.afterMessage,
      wrapHost: this.wrapHost,
      attach: this.attach,
      ...(this.tracing !== undefined && { around: this.around, onDeadLetter: this.onDeadLetter }),
      ...(this.metering !== undefined && { beforeTurn: this.beforeTurn, afterTurn: this.afterTurn }),
    };
  }

  /** The runtime's callbacks run in nobody's context: else a burst would belong to the trace of whoever woke it. */
  private readonly wrapHost = (host: Host): Host => {
    this.clock.use(host);
    if (this.tracing !== undefined) this.tracing.isolated = true;
    const alone = (run: () => void) => (): void => context.with(ROOT_CONTEXT, run);
    return {
      now: () => host.now(),
      wallNow: () => host.wallNow(),
      random: () => host.random(),
      setTimer: (ms, run) => host.setTimer(ms, alone(run)),
      soon: (run) => host.soon(alone(run)),
      later: (run) => host.later(alone(run)),
      log: (entry) => host.log(entry),
    };
  };

  private readonly attach = (system: ActorSystem, middleware: readonly Middleware[]): (() => void) => {
    if (this.attachedTo !== undefined) {
      const text = `${this.name}: attached to system ${this.attachedTo} already; call telemetry() once per system`;
      throw new MisuseError(text);
    }
    this.attachedTo = system.name;
    const detach = this.system?.attach(system, middleware);
    return () => {
      this.attachedTo = undefined;
      detach?.();
    };
  };

  private readonly onSend = (send: SendView): Trail => {
    const labels = this.labels.of(send.actor, send.message);
    this.metering?.sent(labels);
    const { now } = send;
    return this.tracing?.sent(send, labels, now) ?? new Trail(now, labels, undefined);
  };

  private readonly beforeMessage = (message: MessageView): undefined => {
    const trail = message.context as Trail | undefined;
    if (trail === undefined) return;
    const { now } = message;
    if (!trail.seen) this.metering?.dequeued(trail, now);
    trail.seen = true;
    this.tracing?.dequeued(trail, message, now);
  };

  private readonly afterMessage = (message: MessageView, outcome: Outcome): undefined => {
    const trail = message.context as Trail | undefined;
    this.metering?.ended(trail?.labels ?? this.labels.of(message.actor, message.message), outcome);
    if (trail !== undefined) this.tracing?.ended(trail, message, outcome);
  };

  private readonly onDeadLetter = ({ context, reason, now }: DeadLetterView): void => {
    this.tracing?.lost(context as Trail, reason, now);
  };

  private readonly around = (message: MessageView, run: () => unknown): unknown => {
    const trail = message.context as Trail | undefined;
    return trail === undefined ? run() : this.tracing?.run(trail, run);
  };

  private readonly beforeTurn = (turn: TurnView): void => this.metering?.turnBegan(turn);

  private readonly afterTurn = (turn: TurnView, result: InvokeResult): void =>
    this.metering?.turnEnded(turn, result);
}
