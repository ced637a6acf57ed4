import { keepClassNames } from '../../errors/class-names.js';
import { TroupeError } from '../../errors/error-classes.js';
import { toError } from '../../errors/thrown-value.js';

/** A schedule on which the scenario fails. Its cause is the failure itself. */
export class ExploreError extends TroupeError {
  readonly code = 'ERR_TEST_EXPLORE';
  readonly seed: number;
  /** The option `replay` that repeats the shrunk schedule. */
  readonly replay: string;
  /** The last messages, oldest first: `sender → receiver.message`. */
  readonly messages: readonly string[];
  constructor(seed: number, replay: string, cause: unknown, details: ExploreDetails) {
    const { passed, choices, shrunkTo, crashes, messages, threads } = details;
    super(
      [
        `seed ${seed} fails, after ${passed} that passed: ${toError(cause).message}`,
        `shrunk from ${choices} to ${shrunkTo} choices that differ from first come, first served`,
        ...crashes.map((crash) => `crashed: ${crash}`),
        'last messages:',
        ...messages.map((message) => `  ${message}`),
        `replay: explore(scenario, { replay: '${replay}'${threads === 0 ? '' : `, threads: ${threads}`} })`,
      ].join('\n'),
      { cause },
    );
    this.seed = seed;
    this.replay = replay;
    this.messages = messages;
  }
}

export interface ExploreDetails {
  readonly passed: number;
  readonly choices: number;
  readonly shrunkTo: number;
  readonly crashes: readonly string[];
  readonly threads: number;
  readonly messages: readonly string[];
}

/** An invariant of an explored world does not hold. */
export class InvariantError extends TroupeError {
  readonly code = 'ERR_TEST_INVARIANT';
  readonly invariant: string;
  constructor(invariant: string, cause?: unknown) {
    super(`the invariant does not hold: ${invariant}`, { cause });
    this.invariant = invariant;
  }
}

/** No actor of an explored world can go on, and its scenario has not ended. */
export class StuckWorldError extends TroupeError {
  readonly code = 'ERR_TEST_STUCK';
  /** One line for each actor that is not idle. */
  readonly activities: readonly string[];
  constructor(problem: string, activities: readonly string[]) {
    super([problem, ...activities.map((activity) => `  ${activity}`)].join('\n'));
    this.activities = activities;
  }
}

/** The failure of an actor that an explored world has crashed. */
export class CrashedError extends TroupeError {
  readonly code = 'ERR_TEST_CRASHED';
  readonly path: string;
  constructor(path: string) {
    super(`${path}: crashed by the test`);
    this.path = path;
  }
}

keepClassNames({ CrashedError, ExploreError, InvariantError, StuckWorldError });
