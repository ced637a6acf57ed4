import { context, type MeterProvider, ROOT_CONTEXT, type TracerProvider } from '@opentelemetry/api';
import {
  type DeadLetterView,
  type Host,
  type Installation,
  type InvokeResult,
  type MessageView,
  type Middleware,
  MisuseError,
  type Outcome,
  type SendView,
  type TurnView,
} from '@troupe/core';
import { callback, checkOptions, flag, name, object, wholeNumber } from '@troupe/core/option-check';
import { NoTelemetrySdkError } from '../errors.js';
import { CrossingTraces } from './crossing-trace.js';
import { findRegisteredSdk, type Warn } from './find-registered-sdk.js';
import { MessageMetrics } from './message-metrics.js';
import { MessageSpans } from './message-spans.js';
import { MessageTrace } from './message-trace.js';
import { MetricLabels } from './metric-labels.js';
import { SystemMetrics } from './system-metrics.js';
import { WallClock } from './wall-clock.js';

export interface TelemetryOptions {
  /** The name in metrics and errors. Default `telemetry`. */
  readonly name?: string | undefined;
  /** Makes the spans. Default: the registered one. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** Makes the metrics. Default: the registered one. */
  readonly meterProvider?: MeterProvider | undefined;
  /** A span for the send as well as one for the handler. Default true. */
  readonly producerSpans?: boolean | undefined;
  /** Pairs of actor and message with labels of their own; the others share `_OTHER`. Default 1,000. */
  readonly labelsMax?: number | undefined;
  /** Throws ERR_NO_TELEMETRY_SDK instead of doing nothing when no SDK is registered. Default false. */
  readonly required?: boolean | undefined;
  /** Called when a second copy of the API package hides the SDK. Default: a process warning, once. */
  readonly warn?: Warn | undefined;
}

const SCOPE = '@troupe/middleware';

/**
 * OpenTelemetry spans and metrics. The call looks for a registered SDK, so register the SDK first; without
 * one the middleware has no hooks, records nothing and costs nothing. As middleware of a system it also
 * exports metrics of the system and of the other middleware, and keeps the traces of unrelated callers apart.
 */
export function telemetry(options: TelemetryOptions = {}): Middleware {
  checkOptions('telemetry', options, {
    name,
    tracerProvider: object,
    meterProvider: object,
    producerSpans: flag,
    labelsMax: wholeNumber(1),
    required: flag,
    warn: callback,
  });
  const ownName = options.name ?? 'telemetry';
  const labels = new MetricLabels(options.labelsMax ?? 1_000);
  const sdk = findRegisteredSdk(options.warn);
  const tracers = options.tracerProvider ?? sdk.tracers;
  const meters = options.meterProvider ?? sdk.meters;
  if (tracers === undefined && meters === undefined) {
    if (options.required === true) throw new NoTelemetrySdkError('no SDK is registered');
    return { name: ownName };
  }
  return new TelemetryMiddleware(ownName, labels, tracers, meters, options.producerSpans ?? true).hooks();
}

class TelemetryMiddleware {
  private readonly name: string;
  private readonly labels: MetricLabels;
  private readonly spans: MessageSpans | undefined = undefined;
  private readonly messages: MessageMetrics | undefined = undefined;
  private readonly system: SystemMetrics | undefined = undefined;
  private readonly clock = new WallClock();
  private readonly crossings: CrossingTraces;
  private installedIn: string | undefined = undefined;

  constructor(
    name: string,
    labels: MetricLabels,
    tracers: TracerProvider | undefined,
    meters: MeterProvider | undefined,
    producerSpans: boolean,
  ) {
    this.name = name;
    this.labels = labels;
    this.crossings = new CrossingTraces(this.clock, labels);
    if (tracers !== undefined)
      this.spans = new MessageSpans(tracers.getTracer(SCOPE), this.clock, labels, producerSpans);
    if (meters !== undefined) {
      const meter = meters.getMeter(SCOPE);
      this.messages = new MessageMetrics(meter, labels);
      this.system = new SystemMetrics(meter, labels, this.messages, () => this.clock.now());
    }
  }

  hooks(): Middleware {
    return {
      name: this.name,
      onSend: this.onSend,
      packContext: this.crossings.pack,
      unpackContext: this.crossings.unpack,
      beforeMessage: this.beforeMessage,
      afterMessage: this.afterMessage,
      wrapHost: this.wrapHost,
      install: this.install,
      ...(this.spans !== undefined && { around: this.around, onDeadLetter: this.onDeadLetter }),
      ...(this.messages !== undefined && { beforeTurn: this.beforeTurn, afterTurn: this.afterTurn }),
    };
  }

  /**
   * Callbacks of the runtime run in the root context: else a burst would belong to the trace of its first
   * sender.
   */
  private readonly wrapHost = (host: Host): Host => {
    this.clock.use(host);
    if (this.spans !== undefined) this.spans.isolated = true;
    const inRootContext = (run: () => void) => (): void => context.with(ROOT_CONTEXT, run);
    return {
      now: () => host.now(),
      wallNow: () => host.wallNow(),
      random: () => host.random(),
      setTimer: (ms, run) => host.setTimer(ms, inRootContext(run)),
      soon: (run) => host.soon(inRootContext(run)),
      later: (run) => host.later(inRootContext(run)),
      log: (entry) => host.log(entry),
    };
  };

  private readonly install = ({ system, middleware }: Installation): Disposable => {
    if (this.installedIn !== undefined) {
      const text = `${this.name}: already installed in system ${this.installedIn}; call telemetry() once per system`;
      throw new MisuseError(text);
    }
    this.installedIn = system.name;
    const observation = this.system?.observe(system, middleware);
    return {
      [Symbol.dispose]: () => {
        this.installedIn = undefined;
        observation?.[Symbol.dispose]();
      },
    };
  };

  private readonly onSend = (send: SendView): MessageTrace => {
    const labels = this.labels.of(send.actor, send.message);
    this.messages?.sent(labels);
    const { now } = send;
    return this.spans?.sent(send, labels, now) ?? new MessageTrace(now, labels, undefined);
  };

  private readonly beforeMessage = (message: MessageView): undefined => {
    const trace = message.context as MessageTrace | undefined;
    if (trace === undefined) return;
    const { now } = message;
    if (!trace.dequeued) this.messages?.dequeued(trace, now);
    trace.dequeued = true;
    this.spans?.dequeued(trace, message, now);
  };

  private readonly afterMessage = (message: MessageView, outcome: Outcome): undefined => {
    const trace = message.context as MessageTrace | undefined;
    this.messages?.ended(trace?.labels ?? this.labels.of(message.actor, message.message), outcome);
    if (trace !== undefined) this.spans?.ended(trace, message, outcome);
  };

  private readonly onDeadLetter = ({ context, reason, now }: DeadLetterView): void => {
    this.spans?.lost(context as MessageTrace, reason, now);
  };

  private readonly around = (message: MessageView, run: () => unknown): unknown => {
    const trace = message.context as MessageTrace | undefined;
    return trace === undefined ? run() : this.spans?.run(trace, run);
  };

  private readonly beforeTurn = (turn: TurnView): void => this.messages?.turnBegan(turn);

  private readonly afterTurn = (turn: TurnView, result: InvokeResult): void =>
    this.messages?.turnEnded(turn, result);
}
