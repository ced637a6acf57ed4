import type { Directive } from '@troupe/core';

/**
 * Which waits a history may have. `upward`: every message goes to an actor of a higher number. `acyclic`:
 * asks, sends and waits for room go upward, tells anywhere. `any`: all of them anywhere. `outside`: like
 * `any`, and handlers also wait for events that no actor shows.
 */
export type WaitKind = 'upward' | 'acyclic' | 'any' | 'outside';

/** `via`: by the ref, or in the actor's name; after an `await` always in the actor's name. */
export type Via = 'ref' | 'ctx';

/** One step of a handler. Milliseconds of 0 are a settled promise. */
export type Step =
  | { readonly does: 'tell'; readonly via: Via; readonly count: number; readonly message: Message }
  | AskOrSendStep
  | { readonly does: 'timer'; readonly ms: number; readonly message: Message }
  | { readonly does: 'await' | 'stash' | 'suspend'; readonly ms: number }
  | { readonly does: 'await-room'; readonly of: number }
  | { readonly does: 'await-gate' | 'open-gate'; readonly gate: number }
  | { readonly does: 'fail'; readonly directive: Exclude<Directive, 'escalate'> }
  | { readonly does: 'stop' };

export interface AskOrSendStep {
  readonly does: 'ask' | 'send';
  readonly via: Via;
  readonly awaited: boolean;
  /** A deadline of its own. */
  readonly withinMs: number | undefined;
  readonly message: Message;
}

/** How an ask of this message is answered: by the handler's result, by a timer, or by the reply to an ask. */
export type Reply =
  | { readonly by: 'result' }
  | { readonly by: 'timer'; readonly ms: number }
  | { readonly by: 'ask'; readonly message: Message };

/** A message is the script of its handler. */
export interface Message {
  readonly to: number;
  readonly steps: readonly Step[];
  readonly reply: Reply;
}

export interface ActorPlan {
  readonly kind: 'actor' | 'pull-pool' | 'router';
  readonly capacity: number;
  readonly throughput: number;
}

/** An act of code outside actors, at a virtual time. */
export type OutsideAct =
  | { readonly at: number; readonly act: 'tell' | 'ask' | 'send'; readonly message: Message }
  | { readonly at: number; readonly act: 'stop' | 'drain' | 'kill'; readonly actor: number }
  | { readonly at: number; readonly act: 'suspend'; readonly actor: number; readonly ms: number };

/** A number of actors, and everything that happens to them: data only, so that it can be shrunk and printed. */
export interface WaitHistory {
  /** Chooses the order in which ready actors run. */
  readonly seed: number;
  readonly kind: WaitKind;
  readonly actors: readonly ActorPlan[];
  readonly acts: readonly OutsideAct[];
}

/** The messages that a handler of this message sends, each with its number of copies. */
export function messagesOf(message: Message): { readonly message: Message; readonly count: number }[] {
  const sent = message.steps.flatMap((step) =>
    'message' in step ? [{ message: step.message, count: step.does === 'tell' ? step.count : 1 }] : [],
  );
  return message.reply.by === 'ask' ? [...sent, { message: message.reply.message, count: 1 }] : sent;
}

/** A router stands for the next two plain actors of higher numbers. */
export function routeesOf(actors: readonly ActorPlan[], index: number): number[] {
  return [...actors.keys()].filter((at) => at > index && actors[at]?.kind === 'actor').slice(0, 2);
}
