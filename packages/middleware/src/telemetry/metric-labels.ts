import type { Attributes } from '@opentelemetry/api';

/** The label of everything beyond the bound, as the semantic conventions prescribe. */
const OTHER = '_OTHER';
const ERROR_TYPES_MAX = 100;
/** A code or a class name, never free text. */
const ERROR_TYPE = /^[A-Za-z_$][\w$]{0,63}$/;

/** Span names, labels and counts of the messages of one name to one kind of actor. */
export class MessageLabels {
  readonly attributes: Attributes;
  readonly sendName: string;
  readonly processName: string;
  /** Messages put into a mailbox since the last flush to the counter. */
  sent = 0;
  /** Messages taken from a mailbox for good since the last flush. */
  consumed = 0;
  private readonly failed = new Map<string, Attributes>();

  constructor(actor: string, message: string) {
    this.sendName = `send ${actor}.${message}`;
    this.processName = `process ${actor}.${message}`;
    this.attributes = Object.freeze({
      'messaging.system': 'troupe',
      // A handler is the destination of its messages: `account.deposit`.
      'messaging.destination.name': actor,
      'troupe.message.name': message,
    });
  }

  /** The labels with an error type; the caller bounds the number of types. */
  withErrorType(errorType: string): Attributes {
    let attributes = this.failed.get(errorType);
    if (attributes === undefined) {
      attributes = Object.freeze({ ...this.attributes, 'error.type': errorType });
      this.failed.set(errorType, attributes);
    }
    return attributes;
  }
}

/** The labels of turns of one kind of actor. */
export class TurnLabels {
  readonly attributes: Attributes;
  private readonly byResult = new Map<string, Attributes>();

  constructor(actor: string) {
    this.attributes = Object.freeze({ 'messaging.destination.name': actor });
  }

  withResult(result: string): Attributes {
    let attributes = this.byResult.get(result);
    if (attributes === undefined) {
      attributes = Object.freeze({ ...this.attributes, 'troupe.turn.result': result });
      this.byResult.set(result, attributes);
    }
    return attributes;
  }
}

/**
 * Labels by actor and message name, made once. Their number is bounded: a program with a definition per user
 * gets `_OTHER` instead of filling the memory of the metrics backend.
 */
export class MetricLabels {
  private readonly max: number;
  private count = 0;
  private readonly byActor = new Map<string, Map<string, MessageLabels>>();
  private readonly turnsByActor = new Map<string, TurnLabels>();
  private readonly otherMessages = new MessageLabels(OTHER, OTHER);
  private readonly otherTurns = new TurnLabels(OTHER);
  private readonly errorTypes = new Set<string>();

  constructor(max: number) {
    this.max = max;
  }

  /** The same object for the same names. */
  of(actor: string, message: string): MessageLabels {
    return this.byActor.get(actor)?.get(message) ?? this.add(actor, message);
  }

  ofTurns(actor: string): TurnLabels {
    return this.turnsByActor.get(actor) ?? this.addTurns(actor);
  }

  errorType(error: unknown): string {
    const type = typeOf(error);
    if (this.errorTypes.has(type)) return type;
    if (!ERROR_TYPE.test(type) || this.errorTypes.size >= ERROR_TYPES_MAX) return OTHER;
    this.errorTypes.add(type);
    return type;
  }

  private add(actor: string, message: string): MessageLabels {
    if (this.count >= this.max) return this.otherMessages;
    this.count += 1;
    const labels = new MessageLabels(actor, message);
    const byMessage = this.byActor.get(actor) ?? new Map<string, MessageLabels>();
    this.byActor.set(actor, byMessage.set(message, labels));
    return labels;
  }

  private addTurns(actor: string): TurnLabels {
    if (this.turnsByActor.size >= this.max) return this.otherTurns;
    const labels = new TurnLabels(actor);
    this.turnsByActor.set(actor, labels);
    return labels;
  }
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return OTHER;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.name;
}
