// Types of `ctx.phase`, `system.on`, `definition.is`, `decide`, and of names that an application needs.
import {
  type ActorSystem,
  type AnyRef,
  type ArgsOption,
  type ChildFailure,
  type DeadLetter,
  type DefineByProtocol,
  defineActor,
  type NodeSettings,
  type PayloadArgs,
  type ProtocolRule,
  type ReplyOf,
  type SupervisionPolicy,
  type SystemExecutor,
  type TimerMethods,
} from '@troupe/core';

declare const system: ActorSystem;
declare const someRef: AnyRef;

const Door = defineActor('door', {
  handlers: {
    phase(ctx) {
      const phase: 'shut' | 'ajar' | undefined = ctx.phase;
      // @ts-expect-error there is no such phase
      return ctx.phase === 'open' ? 1 : phase;
    },
  },
  phases: { shut: { open: (ctx) => ctx.become('ajar') }, ajar: { close: (ctx) => ctx.become('shut') } },
});

if (Door.is(someRef)) someRef.tell.open();
// @ts-expect-error not narrowed
someRef.tell.open();

const letters: Disposable = system.on('dead-letter', (event) => {
  const letter: DeadLetter = event.letter;
  void letter;
  // @ts-expect-error that is a field of another event
  void event.path;
});
// @ts-expect-error there is no such kind
system.on('dead-leter', () => undefined);
void letters;

const policy: SupervisionPolicy = {
  decide: ({ error, child, message, attempt }: ChildFailure) =>
    Door.is(child) && attempt < 3 && message === 'open' && error instanceof TypeError ? 'resume' : 'stop',
};
void policy;

export type Names = [
  ArgsOption<{ a: 1 }>,
  DefineByProtocol<{ a(): void }>,
  NodeSettings,
  PayloadArgs<(ctx: never, n: number) => void>,
  ProtocolRule<{ a(): void }>,
  ReplyOf<() => Promise<number>>,
  SystemExecutor,
  TimerMethods<Record<never, never>>,
];
