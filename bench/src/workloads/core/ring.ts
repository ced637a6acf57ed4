import type { Ref, System } from '../../adapters/actor-system.js';
import { Deferred } from '../deferred.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

interface Node {
  next: Ref | undefined;
  hops: number;
}

const size = 100;

/** One token in a ring of a hundred actors: every mailbox has at most one message. */
export function ringOf(name: string, hops: number): Workload {
  return { name, unit: 'messages', prepare: (system, scale) => prepare(system, scaled(hops, scale, size)) };
}

function prepare(system: System, hops: number): () => Promise<Outcome> {
  const link = system.tell<Ref>('link');
  const token = system.tell<number>('token');
  const end = system.tell<Deferred<number>>('end');
  let done = new Deferred();
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
        else done.resolve();
      },
      end(ctx, all: Deferred<number>) {
        counted += ctx.state.hops;
        ctx.stop();
        all.resolve(0);
      },
    },
  });
  return async (): Promise<Outcome> => {
    done = new Deferred();
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
        const ended = new Deferred<number>();
        end(member, ended);
        return ended.promise;
      }),
    );
    return { attempted: hops, completed: counted, oracle: counted === hops };
  };
}
