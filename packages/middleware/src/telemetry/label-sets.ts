import type { Attributes } from '@opentelemetry/api';

/** Stands for everything beyond the bound, as the conventions want it. */
const OTHER = '_OTHER';
const ERROR_TYPES_MAX = 100;
/** A code or a class name: never a text, which could hold anything. */
const ERROR_TYPE = /^[A-Za-z_$][\w$]{0,63}$/;

/**
 * The labels of metrics, each set made once. Bounded: names of definitions and messages are few in a sane program, and
 * an insane one (a definition per user) gets `_OTHER` instead of filling the memory of the metrics backend.
 */
export class LabelSets {
  private readonly max: number;
  private count = 0;
  private readonly byActor = new Map<string, Map<string, Attributes>>();
  private readonly rest: Attributes;
  private readonly errorTypes = new Set<string>();

  constructor(max: number) {
    this.max = max;
    this.rest = labelsOf(OTHER, OTHER);
  }

  /** The same object for the same names. */
  of(actor: string, message: string): Attributes {
    const byMessage = this.byActor.get(actor);
    return byMessage?.get(message) ?? this.add(actor, message);
  }

  errorType(error: unknown): string {
    const type = typeOf(error);
    if (this.errorTypes.has(type)) return type;
    if (!ERROR_TYPE.test(type) || this.errorTypes.size >= ERROR_TYPES_MAX) return OTHER;
    this.errorTypes.add(type);
    return type;
  }

  private add(actor: string, message: string): Attributes {
    if (this.count >= this.max) return this.rest;
    this.count += 1;
    const labels = labelsOf(actor, message);
    const byMessage = this.byActor.get(actor) ?? new Map<string, Attributes>();
    this.byActor.set(actor, byMessage.set(message, labels));
    return labels;
  }
}

/** A handler is the destination of its messages: `account.deposit`. */
function labelsOf(actor: string, message: string): Attributes {
  return Object.freeze({
    'messaging.system': 'troupe',
    'messaging.destination.name': actor,
    'troupe.message.name': message,
  });
}

function typeOf(error: unknown): string {
  if (!(error instanceof Error)) return OTHER;
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.name;
}
