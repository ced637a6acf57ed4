import { type Actor, defineActor, type ProtocolContext, type Ref } from '@troupe/core';
import type { SentMessage } from './message-ledger.js';

/** Messages that say what their handler does. */
export interface ScriptProtocol {
  run(message: SentMessage): unknown;
  unstash(): void;
}

export type ScriptRef = Ref<ScriptProtocol>;
export type ScriptContext = ProtocolContext<ScriptProtocol, ScriptArgs>;

/** Runs the scripts of the messages to actor `index`. */
export interface ScriptArgs {
  readonly index: number;
  readonly handle: (ctx: ScriptContext, index: number, message: SentMessage) => unknown;
}

export type ScriptActor = Actor<ScriptProtocol, ScriptArgs>;

const definitions = new Map<string, ScriptActor>();

/** One definition for all histories with that mailbox: a definition of its own per actor costs compilation. */
export function scriptActor(capacity: number, throughput: number): ScriptActor {
  const key = `${capacity}/${throughput}`;
  const known = definitions.get(key);
  if (known !== undefined) return known;
  const made: ScriptActor = defineActor.of<ScriptProtocol>()('script', {
    state: (args: ScriptArgs) => args,
    handlers: {
      run: (ctx, message) => ctx.state.handle(ctx, ctx.state.index, message),
      unstash: (ctx) => ctx.unstash(),
    },
    mailbox: { capacity },
    throughput,
    stashMax: 100,
  });
  definitions.set(key, made);
  return made;
}
