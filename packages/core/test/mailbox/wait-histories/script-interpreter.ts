import type { Host, LaterReply } from '@troupe/core';
import { type Deferred, deferred } from '../../deferred.js';
import type { MessageLedger, SentMessage } from './message-ledger.js';
import type { ScriptContext, ScriptRef } from './script-actor.js';
import type { AskOrSendStep, Message, Step } from './wait-history.js';

/** A failure that names the directive its parent takes. */
export class DirectedError extends Error {
  readonly directive: 'restart' | 'resume' | 'stop';
  constructor(directive: DirectedError['directive']) {
    super(`the directive of this failure is ${directive}`);
    this.directive = directive;
  }
}

/** The actors of a run, as scripts see them. */
export interface ScriptActors {
  readonly refs: readonly ScriptRef[];
  /** A message is on its way to that actor: the length of its mailbox is noted. */
  noteDepth(actor: number): void;
  /** An ask or a send was refused. */
  noteRefusal(message: SentMessage, error: Error): void;
}

/** Runs the script of a message: synchronously up to its first wait, in the actor's name after it. */
export class ScriptInterpreter {
  private readonly actors: ScriptActors;
  private readonly ledger: MessageLedger;
  private readonly host: Host;
  private readonly gates: Deferred<void>[] = [];
  private areGatesOpen = false;

  constructor(actors: ScriptActors, ledger: MessageLedger, host: Host) {
    this.actors = actors;
    this.ledger = ledger;
    this.host = host;
  }

  handle(ctx: ScriptContext, index: number, message: SentMessage): unknown {
    const { steps } = message.script;
    const stash = steps.find((step) => step.does === 'stash');
    if (stash !== undefined && 'ms' in stash && message.stashed === 0) {
      message.stashed += 1;
      ctx.stash();
      ctx.after(stash.ms, ctx.self).unstash();
      return undefined;
    }
    message.handled += 1;
    for (const [at, step] of steps.entries()) {
      const wait = this.perform(ctx, index, step, true);
      if (wait !== undefined) return this.continueAfter(wait, ctx, index, message, at + 1);
    }
    return this.reply(ctx, index, message.script);
  }

  /** From now on no gate holds anything up. */
  openGates(): void {
    this.areGatesOpen = true;
    for (const gate of this.gates) gate?.resolve();
  }

  private async continueAfter(
    first: Promise<void>,
    ctx: ScriptContext,
    index: number,
    { script }: SentMessage,
    from: number,
  ): Promise<unknown> {
    await first;
    for (const step of script.steps.slice(from)) await this.perform(ctx, index, step, false);
    return this.reply(ctx, index, script);
  }

  /** A promise where the handler awaits. */
  private perform(
    ctx: ScriptContext,
    index: number,
    step: Step,
    isSynchronous: boolean,
  ): Promise<void> | undefined {
    switch (step.does) {
      case 'tell':
        for (let i = 0; i < step.count; i += 1)
          this.tell(ctx, index, step.message, isSynchronous && step.via === 'ref');
        return undefined;
      case 'ask':
      case 'send': {
        const settled = this.askOrSend(ctx, index, step, isSynchronous && step.via === 'ref');
        return step.awaited ? settled : undefined;
      }
      case 'timer':
        ctx.after(step.ms, this.ref(step.message.to)).run(this.ledger.add(step.message, 'timer', index));
        return undefined;
      case 'await':
        return this.elapsed(step.ms);
      case 'stash':
        return undefined;
      case 'suspend':
        ctx.suspend({ user: 'script' }, { on: 'after', ms: step.ms });
        return undefined;
      case 'await-room':
        ctx.suspend('backpressure', { on: 'capacity', of: this.ref(step.of) });
        return undefined;
      case 'await-gate':
        return this.areGatesOpen ? Promise.resolve() : this.gate(step.gate).promise;
      case 'open-gate':
        this.gate(step.gate).resolve();
        return undefined;
      case 'fail':
        throw new DirectedError(step.directive);
      case 'stop':
        ctx.stop();
        return undefined;
      default:
        return step satisfies never;
    }
  }

  private tell(ctx: ScriptContext, index: number, script: Message, byRef: boolean): void {
    const message = this.ledger.add(script, 'tell', index);
    const ref = this.ref(script.to);
    if (byRef) ref.tell.run(message);
    else ctx.tell(ref).run(message);
    this.actors.noteDepth(script.to);
  }

  private askOrSend(
    ctx: ScriptContext,
    index: number,
    step: Pick<AskOrSendStep, 'does' | 'message' | 'withinMs'>,
    byRef: boolean,
  ): Promise<void> {
    const message = this.ledger.add(step.message, step.does, index);
    const ref = this.ref(step.message.to);
    const { withinMs } = step;
    const methods = byRef && withinMs === undefined ? ref[step.does] : ctx[step.does](ref, { withinMs });
    const settled = this.follow(message, methods.run(message));
    this.actors.noteDepth(step.message.to);
    return settled;
  }

  follow(message: SentMessage, promise: Promise<unknown>): Promise<void> {
    return this.ledger.follow(message, promise, this.host).then(() => {
      if (message.outcome instanceof Error) this.actors.noteRefusal(message, message.outcome);
    });
  }

  private reply(ctx: ScriptContext, index: number, { reply }: Message): LaterReply<unknown> | undefined {
    if (reply.by === 'result') return undefined;
    const later = ctx.later<unknown>();
    if (reply.by === 'timer') this.host.setTimer(reply.ms, () => later.reply(undefined));
    else {
      const settled = this.askOrSend(
        ctx,
        index,
        { does: 'ask', message: reply.message, withinMs: undefined },
        false,
      );
      void settled.then(() => later.reply(undefined));
    }
    return later;
  }

  private elapsed(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.host.setTimer(ms, resolve);
    });
  }

  private gate(number: number): Deferred<void> {
    const gate = this.gates[number] ?? deferred();
    this.gates[number] = gate;
    return gate;
  }

  private ref(actor: number): ScriptRef {
    return this.actors.refs[actor] as ScriptRef;
  }
}
