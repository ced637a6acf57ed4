import {
  type Baggage,
  type BaggageEntry,
  baggageEntryMetadataFromString,
  type Context,
  propagation,
  trace,
} from '@opentelemetry/api';
import type { CrossingView } from '@troupe/core';
import { MessageTrace } from './message-trace.js';
import type { MetricLabels } from './metric-labels.js';
import { contextOfTrace, remoteSpanContext, type TraceContext, traceContextOf } from './trace-context.js';
import type { WallClock } from './wall-clock.js';

type PackedBaggage = readonly (readonly [key: string, value: string, metadata: string | undefined])[];

/** The trace data of a message between two threads. */
interface PackedTrace {
  /** Milliseconds since 1970: the threads have no other clock in common. */
  readonly sentAt: number;
  readonly parent: TraceContext | undefined;
  readonly armedIn: TraceContext | undefined;
  readonly baggage: PackedBaggage | undefined;
}

/** Trace data of messages as plain data, and back. */
export class CrossingTraces {
  private readonly clock: WallClock;
  private readonly labels: MetricLabels;

  constructor(clock: WallClock, labels: MetricLabels) {
    this.clock = clock;
    this.labels = labels;
  }

  readonly pack = (context: unknown): PackedTrace => {
    const { sentAt, parent, armedIn } = context as MessageTrace;
    return {
      sentAt: this.clock.epochOf(sentAt),
      parent: parent && traceContextOf(trace.getSpanContext(parent)),
      armedIn: traceContextOf(armedIn),
      baggage: parent && packBaggage(propagation.getBaggage(parent)),
    };
  };

  readonly unpack = (packed: unknown, { actor, message, now }: CrossingView): MessageTrace => {
    const { sentAt, parent, armedIn, baggage } = packed as PackedTrace;
    // The clocks of two threads differ by a fraction of a millisecond: a message is not sent in the future.
    const waited = Math.max(0, this.clock.epochOf(now) - sentAt);
    const context = withBaggage(contextOfTrace(parent), baggage);
    const messageTrace = new MessageTrace(now - waited, this.labels.of(actor, message), context);
    messageTrace.armedIn = remoteSpanContext(armedIn);
    return messageTrace;
  };
}

function packBaggage(baggage: Baggage | undefined): PackedBaggage | undefined {
  return baggage?.getAllEntries().map(([key, { value, metadata }]) => [key, value, metadata?.toString()]);
}

function withBaggage(context: Context, packed: PackedBaggage | undefined): Context {
  if (packed === undefined) return context;
  const entries: Record<string, BaggageEntry> = {};
  for (const [key, value, metadata] of packed)
    entries[key] =
      metadata === undefined ? { value } : { value, metadata: baggageEntryMetadataFromString(metadata) };
  return propagation.setBaggage(context, propagation.createBaggage(entries));
}
