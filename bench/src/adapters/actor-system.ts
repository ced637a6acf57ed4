/** A system's own address of an actor. Workloads never look inside. */
export type Ref = object;

/** A system's own form of an actor definition. Workloads never look inside. */
export type Definition = object;

/** What a handler gets. One object per actor, made by the system. */
export interface Ctx<State = unknown> {
  readonly state: State;
  readonly self: Ref;
  /** Takes effect after the current message. */
  stop(): void;
  spawn(definition: Definition, args?: unknown): Ref;
}

/** A handler runs for one message at a time; what it returns answers an ask. */
// The payload is `never` here so that handlers of every payload type fit in one table.
export type Handler<State> = (ctx: Ctx<State>, payload: never) => unknown;

/** An actor as a workload writes it: state from arguments, handlers by name. */
export interface Behaviour<State = unknown, Args = unknown> {
  readonly name: string;
  readonly state: (args: Args) => State;
  readonly handlers: Readonly<Record<string, Handler<State>>>;
}

export type Tell<Payload = void> = (to: Ref, payload: Payload) => void;
export type Ask<Payload = void, Reply = unknown> = (to: Ref, payload: Payload) => Promise<Reply>;

/**
 * What a workload needs of an actor system. `tell` and `ask` are made once per message name, before the clock
 * starts, so that a system can give the very call its users would write.
 */
export interface System {
  define<State, Args>(behaviour: Behaviour<State, Args>): Definition;
  spawn(definition: Definition, args?: unknown): Ref;
  stop(ref: Ref): void;
  tell<Payload = void>(name: string): Tell<Payload>;
  /** With a deadline armed, where the system has deadlines. */
  ask<Payload = void, Reply = unknown>(name: string): Ask<Payload, Reply>;
  /** Ends the system: no timer, socket or actor of it is left. */
  close(): Promise<void> | void;
}

/** One file, one actor system: the module under `--adapter` exports these names. */
export interface Adapter {
  readonly name: string;
  /** A difference in semantics that a reader of the table must know of. */
  readonly note?: string;
  open(): Promise<System> | System;
}
