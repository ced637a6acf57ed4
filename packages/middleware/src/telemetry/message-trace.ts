import type { Context, Span, SpanContext } from '@opentelemetry/api';
import type { MessageLabels } from './metric-labels.js';

/**
 * Trace data of one message. It travels with the message, and the sends of its handler find their parent span
 * in it.
 */
export class MessageTrace {
  readonly sentAt: number;
  readonly labels: MessageLabels;
  /** The parent context of the message's own span. */
  readonly parent: Context | undefined;
  /** The context of the handler: the parent of its sends, also after the message has ended. */
  handlerContext: Context | undefined = undefined;
  /** Open from the first dequeue of the message until it is handled, refused or lost. */
  span: Span | undefined = undefined;
  /** The span in which the timer that sent the message was armed. */
  armedIn: SpanContext | undefined = undefined;
  /** Whether the message was dequeued before. */
  dequeued = false;
  runs = 0;

  constructor(sentAt: number, labels: MessageLabels, parent: Context | undefined) {
    this.sentAt = sentAt;
    this.labels = labels;
    this.parent = parent;
  }
}
