import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../../adapters/actor-system.js';
import { Deferred } from '../../deferred.js';
import { type Outcome, scaled, type Workload } from '../../workload.js';

const accounts = 1_000;
const initialBalance = Number.MAX_SAFE_INTEGER / 4 / accounts;

interface Transfer {
  readonly teller: Ref;
  readonly to: Ref;
  readonly cents: number;
}

interface Account {
  balance: number;
  /** The transfer whose destination has not replied yet; further transfers are queued. */
  pending: Transfer | undefined;
  readonly queue: Transfer[];
}

/** Transfers between a thousand accounts; the source waits for the destination before its next transfer. */
export const banking: Workload = {
  name: 'banking',
  unit: 'transactions',
  prepare(system, scale) {
    const transactions = scaled(50_000, scale);
    const opening = Math.floor(initialBalance);
    const begin = system.tell<readonly Ref[]>('begin');
    const transfer = system.tell<Transfer>('transfer');
    const deposit = system.tell<{ from: Ref; cents: number }>('deposit');
    const deposited = system.tell('deposited');
    const replied = system.tell('replied');
    const close = system.tell<Deferred<number>>('close');
    let done = new Deferred<number>();
    const take = (state: Account, self: Ref, next: Transfer): void => {
      state.pending = next;
      state.balance -= next.cents;
      deposit(next.to, { from: self, cents: next.cents });
    };
    const AccountActor = system.define({
      name: 'account',
      state: (): Account => ({ balance: opening, pending: undefined, queue: [] }),
      handlers: {
        transfer(ctx, next: Transfer) {
          if (ctx.state.pending === undefined) take(ctx.state, ctx.self, next);
          else ctx.state.queue.push(next);
        },
        deposit(ctx, { from, cents }: { from: Ref; cents: number }) {
          ctx.state.balance += cents;
          deposited(from);
        },
        deposited(ctx) {
          const { state } = ctx;
          if (state.pending !== undefined) replied(state.pending.teller);
          state.pending = undefined;
          const next = state.queue.shift();
          if (next !== undefined) take(state, ctx.self, next);
        },
        close(ctx, balance: Deferred<number>) {
          balance.resolve(ctx.state.balance);
          ctx.stop();
        },
      },
    });
    const Teller = system.define({
      name: 'teller',
      state: () => ({ random: new SeededRandom(123_456), replies: 0 }),
      handlers: {
        begin(ctx, all: readonly Ref[]) {
          const { random } = ctx.state;
          for (let count = 0; count < transactions; count += 1) {
            // Transfers go to higher account numbers only, as in Savina, so that no deadlock is possible.
            const from = random.below((accounts / 10) * 8);
            const to = from + 1 + random.below(accounts - from - 1);
            const [source, target] = [all[from], all[to]];
            if (source === undefined || target === undefined) continue;
            transfer(source, { teller: ctx.self, to: target, cents: 1 + random.below(1_000) });
          }
        },
        replied(ctx) {
          ctx.state.replies += 1;
          if (ctx.state.replies === transactions) {
            done.resolve(ctx.state.replies);
            ctx.stop();
          }
        },
      },
    });
    return async (): Promise<Outcome> => {
      done = new Deferred();
      const all = Array.from({ length: accounts }, () => system.spawn(AccountActor));
      begin(system.spawn(Teller), all);
      const completed = await done.promise;
      const balances = await Promise.all(
        all.map((account) => {
          const balance = new Deferred<number>();
          close(account, balance);
          return balance.promise;
        }),
      );
      const total = balances.reduce((sum, balance) => sum + balance, 0);
      return { attempted: transactions, completed, oracle: total === opening * accounts };
    };
  },
};
