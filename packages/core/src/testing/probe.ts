import { inspect, isDeepStrictEqual } from 'node:util';
import type { ActorCell } from '../actor/actor-cell.js';
import type { ActorContext } from '../define/actor-context.js';
import type { AnyDefinition, HandlersOf, PayloadArgs } from '../define/actor-definition.js';
import { defineActor } from '../define/define-actor.js';
import type { LaterReply } from '../message/later-reply.js';
import type { ActorRef, AskMethods } from '../ref/actor-ref.js';
import type { ActorSystem } from '../system.js';
import { differenceText, ProbeError } from './testing-errors.js';

type PayloadOf<F> = PayloadArgs<F> extends readonly [] ? undefined : PayloadArgs<F>[0];
type ReplyTo<D, K extends keyof HandlersOf<D>> =
  AskMethods<HandlersOf<D>> extends Readonly<Record<K, (...payload: never) => Promise<infer Reply>>>
    ? Reply
    : never;

/** A message that a probe has received. */
export type ProbedMessage<D extends AnyDefinition> = {
  [K in keyof HandlersOf<D>]: { readonly message: K; readonly payload: PayloadOf<HandlersOf<D>[K]> };
}[keyof HandlersOf<D>];

/**
 * Stands in for an actor of some definition: records its messages, and answers its asks. All methods have the
 * messages of the definition, with their payloads and replies. They look at the messages handled so far:
 * settle first. Each message is expected once, in the order of arrival.
 */
export interface Probe<D extends AnyDefinition> {
  /** Its ref, for the actor under test. */
  readonly ref: ActorRef<D>;
  /** The payloads of each message, in the order of arrival: `probe.received.record[0]`. */
  readonly received: { readonly [K in keyof HandlersOf<D>]: readonly PayloadOf<HandlersOf<D>[K]>[] };
  /** All messages, in the order of arrival. */
  readonly messages: readonly ProbedMessage<D>[];
  /** The oldest message not yet expected is this one, with this payload. */
  readonly expect: {
    readonly [K in keyof HandlersOf<D>]: (...payload: PayloadArgs<HandlersOf<D>[K]>) => void;
  };
  /** All messages were expected. */
  expectNone(): void;
  /** Skips messages until this one with a payload that matches, and returns the payload. */
  readonly fish: {
    readonly [K in keyof HandlersOf<D>]: (
      matches?: (payload: PayloadOf<HandlersOf<D>[K]>) => boolean,
    ) => PayloadOf<HandlersOf<D>[K]>;
  };
  /** The reply to asks of this message, to those that wait already too. Without one they wait. */
  readonly answer: { readonly [K in keyof HandlersOf<D>]: (reply: ReplyTo<D, K>) => void };
}

export interface ProbeOptions {
  /** The name of the probe's actor. Default: none. */
  readonly name?: string | undefined;
}

interface Recorded {
  readonly message: string;
  readonly payload: unknown;
}

/** The part of a probe that knows no types. */
export class ProbeRecord {
  readonly messages: Recorded[] = [];
  readonly received: Record<string, unknown[]> = {};
  readonly expect: Record<string, (payload?: unknown) => void> = {};
  readonly fish: Record<string, (matches?: (payload: unknown) => boolean) => unknown> = {};
  readonly answer: Record<string, (reply: unknown) => void> = {};
  private readonly actor: string;
  private readonly answers = new Map<string, unknown>();
  /** Asks that wait for an answer. */
  private readonly waiting: { readonly message: string; readonly reply: LaterReply<unknown> }[] = [];
  private expected = 0;

  constructor(actor: string, messages: readonly string[]) {
    this.actor = actor;
    for (const message of messages) {
      this.received[message] = [];
      this.expect[message] = (payload) => this.expectNext({ message, payload });
      this.fish[message] = (matches) => this.fishFor(message, matches);
      this.answer[message] = (reply) => this.setAnswer(message, reply);
    }
  }

  handle(ctx: ActorContext, message: string, payload: unknown): unknown {
    this.messages.push({ message, payload });
    this.received[message]?.push(payload);
    if (this.answers.has(message)) return this.answers.get(message);
    const { envelope } = (ctx as ActorCell).type.runtime.invoker;
    if (envelope?.resolve === undefined) return undefined;
    const reply = ctx.later<unknown>();
    this.waiting.push({ message, reply });
    return reply;
  }

  get unanswered(): readonly string[] {
    return this.waiting.map(({ message }) => message);
  }

  expectNone(): void {
    const left = this.messages.slice(this.expected);
    if (left.length === 0) return;
    throw this.error(`expected no more messages, received ${listOf(left)}`, { actual: left, expected: [] });
  }

  private expectNext(expected: Recorded): void {
    const actual = this.messages[this.expected];
    if (actual === undefined) {
      const problem = `expected ${textOf(expected)}, received nothing${this.expected > 0 ? ' more' : ''}`;
      throw this.error(`${problem}; settle the world first`, { expected });
    }
    if (actual.message !== expected.message)
      throw this.error(`expected ${textOf(expected)}, received ${textOf(actual)}`, { actual, expected });
    if (!isDeepStrictEqual(actual.payload, expected.payload))
      throw this.error(`${expected.message}: ${differenceText(actual.payload, expected.payload)}`, {
        actual: actual.payload,
        expected: expected.payload,
      });
    this.expected += 1;
  }

  private fishFor(message: string, matches: (payload: unknown) => boolean = () => true): unknown {
    const left = this.messages.slice(this.expected);
    const place = left.findIndex((one) => one.message === message && matches(one.payload));
    const found = left[place];
    if (found === undefined)
      throw this.error(`no ${message} that matches; received ${listOf(left)}`, { actual: left });
    this.expected += place + 1;
    return found.payload;
  }

  private setAnswer(message: string, reply: unknown): void {
    this.answers.set(message, reply);
    const waiting = this.waiting.splice(0);
    for (const one of waiting) {
      if (one.message === message) one.reply.reply(reply);
      else this.waiting.push(one);
    }
  }

  private error(problem: string, values: { actual?: unknown; expected?: unknown }): ProbeError {
    return new ProbeError(`probe of ${this.actor}`, problem, values);
  }
}

/** Spawns an actor that hands its messages to the record. */
export function spawnProbe<D extends AnyDefinition>(
  system: ActorSystem,
  definition: D,
  options: ProbeOptions,
): { readonly probe: Probe<D>; readonly record: ProbeRecord } {
  const names = definition['~handlerNames'];
  const record = new ProbeRecord(definition.name, names);
  const handlers: Record<string, (ctx: ActorContext, payload?: unknown) => unknown> = {};
  for (const message of names) handlers[message] = (ctx, payload) => record.handle(ctx, message, payload);
  const Recorder = defineActor(`probe of ${definition.name}`, { handlers });
  const ref = system.spawn(Recorder, options) as unknown as ActorRef<D>;
  const { received, messages, expect, fish, answer } = record;
  const probe = { ref, received, messages, expect, fish, answer, expectNone: () => record.expectNone() };
  // The names and types are those of the definition, whose messages are the keys.
  return { probe: probe as unknown as Probe<D>, record };
}

const SHOWN_MAX = 10;

function listOf(messages: readonly Recorded[]): string {
  if (messages.length === 0) return 'nothing';
  const shown = messages.slice(0, SHOWN_MAX).map(textOf).join(', ');
  return messages.length > SHOWN_MAX ? `${shown} and ${messages.length - SHOWN_MAX} more` : shown;
}

function textOf({ message, payload }: Recorded): string {
  const text =
    payload === undefined ? '' : inspect(payload, { depth: 3, breakLength: Number.POSITIVE_INFINITY });
  return `${message}(${text})`;
}
