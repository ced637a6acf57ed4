import type { Attributes } from '@opentelemetry/api';

/** Stands for everything beyond the bound, as the conventions want it. */
const OTHER = '_OTHER';
const ERROR_TYPES_MAX = 100;
/** A code or a class name: never a text, which could hold anything. */
const ERROR_TYPE = /^[A-Za-z_$][\w$]{0,63}$/;

/** What telemetry knows of the messages of one name to one kind of actor: names and labels made once, and counts. */
export class LabelSet {
  readonly attributes: Attributes;
  readonly sendName: string;
  readonly processName: string;
  /** Messages put into a mailbox that no counter knows of yet. */
  sent = 0;
  /** Messages taken out for good, likewise. */
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

  /** With the type of an error, which is bounded by whoever asks. */
  failedBy(errorType: string): Attributes {
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

  endedBy(result: string): Attributes {
    let attributes = this.byResult.get(result);
    if (attributes === undefined) {
      attributes = Object.freeze({ ...this.attributes, 'troupe.turn.result': result });
      this.byResult.set(result, attributes);
    }
    return attributes;
  }
}

/**
 * Label sets by name. Bounded: names of definitions and messages are few in a sane program, and an insane one (a
 * definition per user) gets `_OTHER` instead of filling the memory of the metrics backend.
 */
export class LabelSets {
  private readonly max: number;
  private count = 0;
  private readonly byActor = new Map<string, Map<string, LabelSet>>();
  private readonly turns = new Map<string, TurnLabels>();
  private readonly rest = new LabelSet(OTHER, OTHER);
  private readonly restOfTurns = new TurnLabels(OTHER);
  private readonly errorTypes = new Set<string>();

  constructor(max: number) {
    this.max = max;
  }

  /** The same object for the same names. */
  of(actor: string, message: string): LabelSet {
    return this.byActor.get(actor)?.get(message) ?? this.add(actor, message);
  }

  ofTurns(actor: string): TurnLabels {
    return this.turns.get(actor) ?? this.addTurns(actor);
  }

  errorType(error: unknown): string {
    const type = typeOf(error);
    if (this.errorTypes.has(type)) return type;
    if (!ERROR_TYPE.test(type) || this.errorTypes.size >= ERROR_TYPES_MAX) return OTHER;
    this.errorTypes.add(type);
    return type;
  }

  private add(actor: string, message: string): LabelSet {
    if (this.count >= this.max) return this.rest;
    this.count += 1;
    const labels = new LabelSet(actor, message);
    const byMessage = this.byActor.get(actor) ?? new Map<string, LabelSet>();
    this.byActor.set(actor, byMessage.set(message, labels));
    return labels;
  }

  private addTurns(actor: string): TurnLabels {
    if (this.turns.size >= this.max) return this.restOfTurns;
    const labels = new TurnLabels(actor);
    this.turns.set(actor, labels);
    return labels;
  }
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return OTHER;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.name;
}
