import type { Context, Span, SpanContext } from '@opentelemetry/api';
import type { LabelSet } from './label-sets.js';

/** What telemetry knows of one message: it travels with it, and its reply's and its sends' causes are found in it. */
export class Trail {
  readonly sentAt: number;
  readonly labels: LabelSet;
  /** What the message's own span descends from. */
  readonly origin: Context | undefined;
  /** Inside the handler; what it sends descends from this, also after the message has ended. */
  inside: Context | undefined = undefined;
  /** Open from the first look at the message until it is handled, refused or given up. */
  span: Span | undefined = undefined;
  /** Where the timer was armed that sent it. */
  armedIn: SpanContext | undefined = undefined;
  seen = false;
  runs = 0;

  constructor(sentAt: number, labels: LabelSet, origin: Context | undefined) {
    this.sentAt = sentAt;
    this.labels = labels;
    this.origin = origin;
  }
}
