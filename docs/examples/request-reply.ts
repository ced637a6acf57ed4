// Three kinds of reply: immediate, deferred and an expected failure; and an ask without a reply.
import assert from 'node:assert/strict';
import { AskTimeoutError, createSystem, defineActor, isFailure, type LaterReply } from '@troupe/core';

/** Matches pairs: the first ask waits, the second one answers both. */
const Matchmaker = defineActor('matchmaker', {
  state: () => ({
    waiting: undefined as { readonly name: string; readonly reply: LaterReply<string> } | undefined,
  }),
  handlers: {
    partner(ctx, name: string) {
      const { waiting } = ctx.state;
      if (waiting === undefined) {
        const reply = ctx.later<string>();
        ctx.state.waiting = { name, reply };
        return reply;
      }
      ctx.state.waiting = undefined;
      waiting.reply.reply(name);
      const reply = ctx.later<string>();
      reply.reply(waiting.name);
      return reply;
    },
    cancel(ctx) {
      if (ctx.state.waiting === undefined) return ctx.fail('none-waiting');
      ctx.state.waiting.reply.refuse(new Error('cancelled'));
      ctx.state.waiting = undefined;
      return true;
    },
  },
});

await using system = createSystem({ name: 'matches' });
const matchmaker = system.spawn(Matchmaker, { name: 'matchmaker' });

const [ann, bob] = await Promise.all([matchmaker.ask.partner('ann'), matchmaker.ask.partner('bob')]);
assert.deepEqual([ann, bob], ['bob', 'ann']);

const cancelled = await matchmaker.ask.cancel();
assert.ok(isFailure(cancelled) && cancelled.code === 'none-waiting');

const alone = system.ask(matchmaker, { withinMs: 30 }).partner('cid');
const error = await alone.catch((thrown: unknown) => thrown);
assert.ok(error instanceof AskTimeoutError);
console.log(error.message);
