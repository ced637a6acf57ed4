// A bank of a thousand actors. Some accounts fail on purpose and are restarted by their branch; at the end
// no cent and no message is missing.
import { createSystem, defineActor, type Failure, type Ref } from '@troupe/core';

const ACCOUNTS = 1_000;
const TRANSFERS = 200_000;
const START_CENTS = 10_000;

/** The money is outside the state of the accounts, so that a failing account loses none. */
const books = new Float64Array(ACCOUNTS).fill(START_CENTS);

interface AccountProtocol {
  receive(cents: number): void;
  transfer(order: {
    readonly to: Ref<AccountProtocol>;
    readonly cents: number;
  }): number | Failure<'insufficient', { readonly have: number }>;
}

const Account = defineActor.of<AccountProtocol>()('account', {
  state: (args: { readonly index: number }) => ({ index: args.index, seen: 0 }),
  handlers: {
    receive(ctx, cents) {
      books[ctx.state.index] = (books[ctx.state.index] ?? 0) + cents;
      ctx.state.seen += 1;
      if (ctx.state.seen === 150 && ctx.state.index % 100 === 0)
        throw new Error('an account fails on purpose');
    },
    transfer(ctx, { to, cents }) {
      const have = books[ctx.state.index] ?? 0;
      if (have < cents) return ctx.fail('insufficient', { have });
      books[ctx.state.index] = have - cents;
      to.tell.receive(cents);
      return cents;
    },
  },
});

const Branch = defineActor('branch', {
  state: () => ({ accounts: [] as Ref<AccountProtocol>[] }),
  handlers: {
    open(ctx): readonly Ref<AccountProtocol>[] {
      for (let index = 0; index < ACCOUNTS; index += 1) {
        ctx.state.accounts.push(ctx.spawn(Account, { args: { index }, name: `account-${index}` }));
      }
      return ctx.state.accounts;
    },
  },
  supervise: { strategy: 'one-for-one', restarts: 5, withinMs: 30_000 },
});

const failures: string[] = [];
let deadLetters = 0;
await using system = createSystem({ name: 'bank' });
system.subscribe((event) => {
  if (event.kind === 'failed') failures.push(event.path);
  if (event.kind === 'dead-letter') deadLetters += 1;
});

console.log(`opening a branch with ${ACCOUNTS.toLocaleString('en')} accounts of ${START_CENTS / 100} each`);
const branch = system.spawn(Branch, { name: 'branch' });
const accounts = await branch.ask.open();

console.log(`making ${TRANSFERS.toLocaleString('en')} transfers, 1,000 at a time`);
const startedAt = performance.now();
let refused = 0;
for (let done = 0; done < TRANSFERS; done += 1_000) {
  const replies = Array.from({ length: 1_000 }, (_, i) => {
    const from = accounts[(done + i * 7) % ACCOUNTS] as Ref<AccountProtocol>;
    const to = accounts[(done + i * 13 + 1) % ACCOUNTS] as Ref<AccountProtocol>;
    return from.ask.transfer({ to, cents: 1 + ((done + i) % 500) });
  });
  for (const reply of await Promise.all(replies)) if (typeof reply !== 'number') refused += 1;
}
const seconds = (performance.now() - startedAt) / 1_000;

const report = await system.shutdown();
const total = books.reduce((sum, cents) => sum + cents, 0);
const missing = ACCOUNTS * START_CENTS - total;
console.log(`
  transfers             ${TRANSFERS.toLocaleString('en')} in ${seconds.toFixed(2)} s
  refused (no money)    ${refused.toLocaleString('en')}
  messages handled      ${report.handled.toLocaleString('en')} (${Math.round(report.handled / seconds).toLocaleString('en')} per second)
  accounts that failed  ${failures.length}, each restarted with its mailbox kept
  dead letters          ${deadLetters}
  cents missing         ${missing}
`);
if (missing !== 0 || deadLetters !== 0) {
  console.error('the books do not balance');
  process.exitCode = 1;
} else {
  console.log('the books balance');
}
