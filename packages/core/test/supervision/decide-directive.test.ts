import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { DIRECTIVES, type Directive } from '#src/define/supervision-policy.js';
import { decideDirective, type FailureFacts } from '#src/supervision/decide-directive.js';

const deciding = suite('decide');

const facts: FailureFacts = {
  error: new Error('x'),
  child: { path: '/child', id: '1.0' },
  message: 'work',
  policy: {},
  restartType: 'transient',
  childRestarts: 0,
  allRestarts: 0,
  consecutive: 1,
  random: 0.5,
  ended: false,
  unresumable: false,
  isFinal: false,
};

deciding('the default decision is an immediate restart, attempt 1 of 5', () => {
  assert.equal(decideDirective(facts), {
    directive: 'restart',
    delayMs: 0,
    attempt: 1,
    attemptsMax: 5,
    why: 'within its limits',
  });
});

deciding('one restart beyond the limit within the window escalates', () => {
  const policy = { restarts: 2, withinMs: 100 };
  assert.is(decideDirective({ ...facts, policy, childRestarts: 2 }).directive, 'escalate');
  assert.is(decideDirective({ ...facts, policy, childRestarts: 1 }).directive, 'restart');
  assert.is(decideDirective({ ...facts, policy: { restarts: 0 } }).directive, 'escalate');
});

deciding('restarts are counted per child, and per supervisor only with `restartsTotal`', () => {
  assert.is(decideDirective({ ...facts, allRestarts: 6 }).directive, 'restart');
  const limited = decideDirective({ ...facts, allRestarts: 6, policy: { restartsTotal: 6 } });
  assert.is(limited.directive, 'escalate');
  assert.match(limited.why, 'all children');
});

deciding('a temporary child is stopped at its first failure', () => {
  assert.is(decideDirective({ ...facts, restartType: 'temporary' }).directive, 'stop');
});

deciding('the policy can decide by error, and an invalid or throwing decision escalates', () => {
  for (const directive of DIRECTIVES)
    assert.is(decideDirective({ ...facts, policy: { decide: () => directive } }).directive, directive);
  const thrown = decideDirective({
    ...facts,
    policy: {
      decide: () => {
        throw 'no idea';
      },
    },
  });
  assert.is(thrown.directive, 'escalate');
  assert.match(thrown.why, 'no idea');
  const wrong = decideDirective({ ...facts, policy: { decide: () => 'retry' as Directive } });
  assert.is(wrong.directive, 'escalate');
  assert.match(wrong.why, '"retry"');
  const none = decideDirective({ ...facts, policy: { decide: () => undefined as unknown as Directive } });
  assert.is(none.directive, 'restart');
});

deciding('a restart chosen by the policy still counts towards the limits', () => {
  const policy = { decide: () => 'restart' as const, restarts: 1, withinMs: 100 };
  assert.is(decideDirective({ ...facts, policy, childRestarts: 1 }).directive, 'escalate');
});

deciding('the delay grows with every consecutive failure', () => {
  const policy = { restarts: 100, backoff: { fromMs: 100, toMs: 1_000 } };
  assert.equal(
    [1, 2, 3, 4, 5, 99].map((consecutive) => decideDirective({ ...facts, policy, consecutive }).delayMs),
    [100, 200, 400, 800, 1_000, 1_000],
  );
});

deciding('`decide` is deterministic', () => {
  fc.assert(
    fc.property(
      fc.record({
        childRestarts: fc.integer({ min: 0, max: 8 }),
        consecutive: fc.integer({ min: 1, max: 100 }),
        random: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        restarts: fc.integer({ min: 0, max: 8 }),
      }),
      ({ restarts, ...some }) => {
        const given = {
          ...facts,
          ...some,
          policy: { restarts, backoff: { fromMs: 1, toMs: 9, jitter: 0.5 } },
        };
        const decision = decideDirective(given);
        assert.equal(decideDirective(given), decision);
        assert.ok(decision.attempt <= restarts + 1 || decision.directive === 'escalate');
      },
    ),
    { seed: 8 },
  );
});

deciding.run();
