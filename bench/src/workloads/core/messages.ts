import type { Ref, System } from '../../adapters/system.js';
import { Latch } from '../latch.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

/** One producer floods one counter: the mailbox grows to its full length, then is drained. */
export const counting: Workload = {
  name: 'counting',
  unit: 'messages',
  prepare(system, scale) {
    const messages = scaled(1_000_000, scale);
    const add = system.tell<number>('add');
    const report = system.tell<Latch<number>>('report');
    const produce = system.tell<{ counter: Ref; done: Latch<number> }>('produce');
    const Counter = system.define({
      name: 'counter',
      state: () => ({ total: 0 }),
      handlers: {
        add(ctx, by: number) {
          ctx.state.total += by;
        },
        report(ctx, done: Latch<number>) {
          done.open(ctx.state.total);
          ctx.stop();
        },
      },
    });
    const Producer = system.define({
      name: 'producer',
      state: () => ({}),
      handlers: {
        produce(ctx, { counter, done }: { counter: Ref; done: Latch<number> }) {
          for (let sent = 0; sent < messages; sent += 1) add(counter, 1);
          report(counter, done);
          ctx.stop();
        },
      },
    });
    return async () => {
      const done = new Latch<number>();
      produce(system.spawn(Producer), { counter: system.spawn(Counter), done });
      return { attempted: messages, completed: await done.promise };
    };
  },
};

interface Pinger {
  readonly done: Latch;
  peer: Ref | undefined;
  left: number;
  pongs: number;
}

/** Two actors, one message under way: the cost of a wake-up. */
export const pingpong: Workload = {
  name: 'pingpong',
  unit: 'messages',
  prepare(system, scale) {
    const exchanges = scaled(1_000_000, scale);
    const serve = system.tell<Ref>('serve');
    const ping = system.tell<Ref>('ping');
    const pong = system.tell('pong');
    const end = system.tell('end');
    const Ping = system.define({
      name: 'pinger',
      state: (done: Latch): Pinger => ({ done, peer: undefined, left: exchanges, pongs: 0 }),
      handlers: {
        serve(ctx, peer: Ref) {
          ctx.state.peer = peer;
          ctx.state.left -= 1;
          ping(peer, ctx.self);
        },
        pong(ctx) {
          const { state } = ctx;
          state.pongs += 1;
          if (state.peer === undefined) return;
          if (state.left > 0) {
            state.left -= 1;
            ping(state.peer, ctx.self);
            return;
          }
          end(state.peer);
          state.done.open();
          ctx.stop();
        },
      },
    });
    let pings = 0;
    const Pong = system.define({
      name: 'ponger',
      state: () => ({ pings: 0 }),
      handlers: {
        ping(ctx, from: Ref) {
          ctx.state.pings += 1;
          pong(from);
        },
        end(ctx) {
          pings = ctx.state.pings;
          ctx.stop();
        },
      },
    });
    return async () => {
      const done = new Latch();
      const ponger = system.spawn(Pong);
      serve(system.spawn(Ping, done), ponger);
      await done.promise;
      await settle();
      // Every ping was answered, or the last pong would not have come.
      return { attempted: 2 * exchanges, completed: 2 * pings };
    };
  },
};

/** Lets what was sent last arrive, in systems that deliver later than the caller resumes. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

interface Node {
  next: Ref | undefined;
  hops: number;
}

/** One token around a hundred actors: no mailbox is ever longer than one. */
export const ring: Workload = {
  name: 'ring',
  unit: 'messages',
  prepare(system, scale) {
    const size = 100;
    const hops = scaled(1_000_000, scale, size);
    const link = system.tell<Ref>('link');
    const token = system.tell<number>('token');
    const end = system.tell<Latch<number>>('end');
    let done = new Latch();
    let counted = 0;
    const Member = system.define({
      name: 'member',
      state: (): Node => ({ next: undefined, hops: 0 }),
      handlers: {
        link(ctx, next: Ref) {
          ctx.state.next = next;
        },
        token(ctx, left: number) {
          ctx.state.hops += 1;
          if (left > 1 && ctx.state.next !== undefined) token(ctx.state.next, left - 1);
          else done.open();
        },
        end(ctx, all: Latch<number>) {
          counted += ctx.state.hops;
          ctx.stop();
          all.open(0);
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Latch();
      counted = 0;
      const members = Array.from({ length: size }, () => system.spawn(Member));
      members.forEach((member, index) => {
        link(member, members[(index + 1) % size] ?? member);
      });
      const [first] = members;
      if (first !== undefined) token(first, hops);
      await done.promise;
      await Promise.all(
        members.map((member) => {
          const ended = new Latch<number>();
          end(member, ended);
          return ended.promise;
        }),
      );
      return { attempted: hops, completed: counted };
    };
  },
};

/** One producer, sixty receivers, all mailboxes filled side by side. */
export const forkjoin: Workload = {
  name: 'forkjoin',
  unit: 'messages',
  prepare(system, scale) {
    const receivers = 60;
    const each = Math.min(100_000, scaled(100_000, scale));
    const rounds = scaled(scale, 1);
    return () => repeatForkJoin(forkJoinOnce(system, receivers, each), rounds);
  },
};

async function repeatForkJoin(once: () => Promise<Outcome>, rounds: number): Promise<Outcome> {
  let attempted = 0;
  let completed = 0;
  for (let round = 0; round < rounds; round += 1) {
    const outcome = await once();
    attempted += outcome.attempted;
    completed += outcome.completed;
  }
  return { attempted, completed };
}

function forkJoinOnce(system: System, receivers: number, each: number): () => Promise<Outcome> {
  const add = system.tell<number>('add');
  const fork = system.tell<readonly Ref[]>('fork');
  let done = new Latch();
  let finished = 0;
  let counted = 0;
  const Receiver = system.define({
    name: 'receiver',
    state: () => ({ got: 0 }),
    handlers: {
      add(ctx, by: number) {
        ctx.state.got += by;
        if (ctx.state.got < each) return;
        counted += ctx.state.got;
        finished += 1;
        ctx.stop();
        if (finished === receivers) done.open();
      },
      report: (ctx) => ctx.state.got,
    },
  });
  const Forker = system.define({
    name: 'forker',
    state: () => ({ forks: 0 }),
    handlers: {
      fork(ctx, targets: readonly Ref[]) {
        for (let sent = 0; sent < each; sent += 1) for (const target of targets) add(target, 1);
        ctx.state.forks += 1;
        ctx.stop();
      },
    },
  });
  return async () => {
    done = new Latch();
    finished = 0;
    counted = 0;
    const targets = Array.from({ length: receivers }, () => system.spawn(Receiver));
    fork(system.spawn(Forker), targets);
    await done.promise;
    return { attempted: receivers * each, completed: counted };
  };
}
