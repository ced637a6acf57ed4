import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

const receivers = 60;

/**
 * One producer fills the mailboxes of sixty receivers in parallel. Above scale 1 the workload repeats instead
 * of queueing more, since bounded systems refuse messages above their bound.
 */
export function forkjoinOf(name: string, size: number): Workload {
  return {
    name,
    unit: 'messages',
    prepare(system, scale) {
      const once = forkJoinOnce(system, Math.min(size, scaled(size, scale)));
      const rounds = scaled(1, scale);
      return () => repeatForkJoin(once, rounds);
    },
  };
}

async function repeatForkJoin(once: () => Promise<Outcome>, rounds: number): Promise<Outcome> {
  let attempted = 0;
  let completed = 0;
  for (let round = 0; round < rounds; round += 1) {
    const outcome = await once();
    attempted += outcome.attempted;
    completed += outcome.completed;
  }
  return { attempted, completed, oracle: completed === attempted };
}

function forkJoinOnce(system: System, each: number): () => Promise<Outcome> {
  const add = system.tell<number>('add');
  const fork = system.tell<readonly Ref[]>('fork');
  let done = new Deferred();
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
        if (finished === receivers) done.resolve();
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
    done = new Deferred();
    finished = 0;
    counted = 0;
    const targets = Array.from({ length: receivers }, () => system.spawn(Receiver));
    fork(system.spawn(Forker), targets);
    await done.promise;
    return { attempted: receivers * each, completed: counted };
  };
}
