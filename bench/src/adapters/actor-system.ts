/** The address of an actor, opaque to workloads. */
export type Ref = object;

/** The result of `define`, opaque to workloads. */
export type Definition = object;

/** The context of a handler: one object per actor, made by the system. */
export interface Ctx<State = unknown> {
  readonly state: State;
  readonly self: Ref;
  /** Takes effect after the current message. */
  stop(): void;
  spawn(definition: Definition, args?: unknown): Ref;
}

/** A handler runs for one message at a time; its return value is the reply to an ask. */
// The payload is `never`, so that handlers of every payload type fit in one table.
export type Handler<State> = (ctx: Ctx<State>, payload: never) => unknown;

/** The source of an actor in a workload: state from arguments, handlers by name. */
export interface Behaviour<State = unknown, Args = unknown> {
  readonly name: string;
  readonly state: (args: Args) => State;
  readonly handlers: Readonly<Record<string, Handler<State>>>;
}

export type Tell<Payload = void> = (to: Ref, payload: Payload) => void;
export type Ask<Payload = void, Reply = unknown> = (to: Ref, payload: Payload) => Promise<Reply>;

/**
 * The interface between workloads and an actor system. `tell` and `ask` are made once per message name,
 * before the clock starts, so that a system can return exactly the call that its users write.
 */
export interface System {
  define<State, Args>(behaviour: Behaviour<State, Args>): Definition;
  spawn(definition: Definition, args?: unknown): Ref;
  stop(ref: Ref): void;
  tell<Payload = void>(name: string): Tell<Payload>;
  /** An ask with a deadline, where the system has deadlines. */
  ask<Payload = void, Reply = unknown>(name: string): Ask<Payload, Reply>;
  /** Ends the system with its timers, sockets and actors. */
  close(): Promise<void> | void;
}

/** The exports of an adapter file, one per actor system; `--adapter` loads such a file. */
export interface Adapter {
  readonly name: string;
  /** A difference in semantics that matters to a reader of the table. */
  readonly note?: string | undefined;
  open(): Promise<System> | System;
}
