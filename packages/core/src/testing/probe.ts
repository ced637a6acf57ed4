import type { ActorContext } from '../define/actor-context.js';
import type { AnyDefinition } from '../define/actor-definition.js';
import { defineActor } from '../define/define-actor.js';
import type { ActorRef } from '../ref/actor-ref.js';
import type { ActorSystem } from '../system.js';

export interface Recorded {
  readonly message: string;
  readonly payload: unknown;
}

/** Replaces an actor of some definition and records its messages. */
export interface Probe<D extends AnyDefinition> {
  readonly ref: ActorRef<D>;
  readonly received: readonly Recorded[];
  /** The payloads of one message, in order. */
  payloadsOf(message: string): readonly unknown[];
  /** Sets the reply to asks of this message. */
  answer(message: string, reply: unknown): void;
}

export function spawnProbe<D extends AnyDefinition>(
  system: ActorSystem,
  definition: D,
  name?: string,
): Probe<D> {
  const received: Recorded[] = [];
  const answers = new Map<string, unknown>();
  const handlers: Record<string, (ctx: ActorContext, payload?: unknown) => unknown> = {};
  for (const message of definition['~handlerNames']) {
    handlers[message] = (_ctx, payload) => {
      received.push({ message, payload });
      return answers.get(message);
    };
  }
  const Recorder = defineActor(`probe of ${definition.name}`, { handlers });
  const ref = system.spawn(Recorder, { name });
  return {
    ref: ref as unknown as ActorRef<D>,
    received,
    payloadsOf: (message) => received.filter((r) => r.message === message).map((r) => r.payload),
    answer: (message, reply) => void answers.set(message, reply),
  };
}
