import { AssertionError } from 'node:assert';
import { keepClassNames } from '../errors/class-names.js';
import { TroupeError } from '../errors/error-classes.js';

/** `world.ask` has settled without a reply. The text says which actor does what. */
export class UnansweredError extends TroupeError {
  readonly code = 'ERR_TEST_UNANSWERED';
  readonly target: string;
  readonly question: string;
  /** One line for each actor that is not idle. */
  readonly activities: readonly string[];
  constructor(target: string, message: string, activities: readonly string[]) {
    super(
      [
        `${target}.${message}: not answered, and no actor can go on at this time:`,
        ...activities.map((activity) => `  ${activity}`),
        'Time stands still in `world.ask`. For a reply that takes time, or one from outside the actors:',
        `  const reply = ref.ask.${message}(…); await world.advance(ms); await reply;`,
      ].join('\n'),
    );
    this.target = target;
    this.question = message;
    this.activities = activities;
  }
}

/** The promise of `world.settle` is pending where nothing can go on. The text says which actor does what. */
export class PendingPromiseError extends TroupeError {
  readonly code = 'ERR_TEST_PENDING';
  /** One line for each actor that is not idle. */
  readonly activities: readonly string[];
  constructor(activities: readonly string[]) {
    super(
      [
        'the promise of `world.settle` is pending, and no actor can go on at this time:',
        ...activities.map((activity) => `  ${activity}`),
        'Time stands still in `world.settle`. For a promise that takes time, or one from outside the actors:',
        '  const done = …; await world.advance(ms); await done;',
      ].join('\n'),
    );
    this.activities = activities;
  }
}

/** A test awaits an ask, and no code runs the actors of its world. */
export class UnsettledWorldError extends TroupeError {
  readonly code = 'ERR_TEST_UNSETTLED';
  readonly target: string;
  readonly question: string;
  constructor(target: string, message: string) {
    super(
      `${target}.${message}: the test awaits the reply, and no code runs the actors: write ` +
        `\`await world.ask(ref).${message}(…)\`, or call world.settle() or world.advance(ms) before the await`,
    );
    this.target = target;
    this.question = message;
  }
}

/** A probe has received other messages than expected. `actual` and `expected` are for test runners. */
export class ProbeError extends TroupeError {
  readonly code = 'ERR_TEST_PROBE';
  readonly probe: string;
  readonly actual: unknown;
  readonly expected: unknown;
  constructor(
    probe: string,
    problem: string,
    values: { readonly actual?: unknown; readonly expected?: unknown },
  ) {
    super(`${probe}: ${problem}`);
    this.probe = probe;
    this.actual = values.actual;
    this.expected = values.expected;
  }
}

keepClassNames({ PendingPromiseError, ProbeError, UnansweredError, UnsettledWorldError });

/** The difference of two values in lines of + and -. */
export function differenceText(actual: unknown, expected: unknown): string {
  return new AssertionError({ actual, expected, operator: 'deepStrictEqual' }).message;
}
