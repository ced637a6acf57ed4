import {
  checkOptions,
  listOf,
  type OptionErrorOf,
  type OptionRules,
  oneOf,
  rule,
} from '@troupe/core/option-check';
import { AccessRuleError } from '../transport-error.js';
import { isSubjectPattern, matchesSubject } from './subject-pattern.js';

export type Role = 'client' | 'worker' | 'peer';
export type Action = 'submit' | 'work' | 'observe' | 'feed' | 'cancel' | 'admin';

/**
 * The rights of an identity, as written in a configuration: subject patterns by action. An action without a
 * matching pattern is forbidden; `deny` overrides all others.
 */
export interface IdentityRules {
  /** Unique in its store; jobs and quotas carry it. */
  readonly name: string;
  /** The roles it may take in its Hello. Default: any. */
  readonly roles?: readonly Role[] | undefined;
  /** Subjects it may submit to: `job.submit.mail`. */
  readonly submit?: readonly string[] | undefined;
  /** Subjects it may serve as a worker: `job.assign.mail.*`. */
  readonly work?: readonly string[] | undefined;
  /** Subjects whose jobs it may list and inspect. */
  readonly observe?: readonly string[] | undefined;
  /** Subjects whose jobs it may feed: `job.feed.mail`. Its own jobs it may always feed. */
  readonly feed?: readonly string[] | undefined;
  /** Subjects whose jobs it may cancel. */
  readonly cancel?: readonly string[] | undefined;
  /** Subjects whose dead letters it may redrive and purge. */
  readonly admin?: readonly string[] | undefined;
  /** Subjects that are forbidden for every action. */
  readonly deny?: readonly string[] | undefined;
}

const ACTIONS: readonly Action[] = ['submit', 'work', 'observe', 'feed', 'cancel', 'admin'];
const ROLES: readonly Role[] = ['client', 'worker', 'peer'];

const patterns = listOf(
  rule(
    'tokens of [A-Za-z0-9_-], * or a last >, joined by dots',
    (value) => typeof value === 'string' && isSubjectPattern(value),
  ),
);

const RULES: OptionRules = {
  name: rule(
    '1 to 200 visible ASCII characters',
    (value) => typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value),
  ),
  roles: listOf(oneOf(ROLES)),
  submit: patterns,
  work: patterns,
  observe: patterns,
  feed: patterns,
  cancel: patterns,
  admin: patterns,
  deny: patterns,
};

// The value of an unknown option may be a misplaced key, so it is not printed.
const accessRuleError: OptionErrorOf = ({ option, value, problem }) => {
  const isKnown = Object.hasOwn(RULES, option.split(/[.[]/)[1] ?? '');
  return new AccessRuleError(option, problem, isKnown ? value : undefined);
};

/** The proven identity of a peer. Its rules are checked once, when the configuration is read. */
export class Identity {
  readonly name: string;
  private readonly roles: ReadonlySet<Role>;
  private readonly allowed: ReadonlyMap<Action, readonly string[]>;
  private readonly denied: readonly string[];
  private readonly canonicalRules: string;

  constructor(rules: IdentityRules) {
    checkOptions('identity', rules, RULES, { required: ['name'], errorOf: accessRuleError });
    this.name = rules.name;
    this.canonicalRules = JSON.stringify(rules, Object.keys(rules).sort());
    this.roles = new Set(rules.roles ?? ROLES);
    this.allowed = new Map(ACTIONS.map((action) => [action, [...(rules[action] ?? [])]]));
    this.denied = [...(rules.deny ?? [])];
  }

  /** The same name with the same rights. */
  hasSameRules(other: Identity): boolean {
    return this.canonicalRules === other.canonicalRules;
  }

  mayActAs(role: Role): boolean {
    return this.roles.has(role);
  }

  /** `subject` has no wildcards; `isSubject` has checked it. */
  permits(action: Action, subject: string): boolean {
    for (const pattern of this.denied) if (matchesSubject(pattern, subject)) return false;
    for (const pattern of this.allowed.get(action) ?? []) if (matchesSubject(pattern, subject)) return true;
    return false;
  }
}

/**
 * The identity of every peer on a listener without authentication: loopback or a Unix socket, where the
 * operating system controls access.
 */
export const LOCAL_IDENTITY = new Identity({
  name: 'local',
  submit: ['>'],
  work: ['>'],
  observe: ['>'],
  feed: ['>'],
  cancel: ['>'],
  admin: ['>'],
});
