import { RuleError } from '../errors.js';
import { isPattern, matches } from './subject-pattern.js';

export type Role = 'client' | 'worker' | 'peer';
export type Action = 'submit' | 'work' | 'observe' | 'cancel' | 'admin';

/** What somebody may do, as written in a configuration. What no rule allows is forbidden; `deny` beats every other rule. */
export interface IdentityRules {
  readonly subject: string;
  /** Which Hello it may send; any, unless given. */
  readonly roles?: readonly Role[];
  readonly submit?: readonly string[];
  readonly work?: readonly string[];
  readonly observe?: readonly string[];
  readonly cancel?: readonly string[];
  readonly admin?: readonly string[];
  readonly deny?: readonly string[];
}

const ACTIONS: readonly Action[] = ['submit', 'work', 'observe', 'cancel', 'admin'];
const ROLES: readonly Role[] = ['client', 'worker', 'peer'];
const KNOWN: ReadonlySet<string> = new Set(['subject', 'roles', 'deny', ...ACTIONS]);
const SUBJECT_CHARS_MAX = 200;

/** Who is at the other end of a connection. Made once, when the configuration is read; every pattern in it was checked then. */
export class Identity {
  readonly subject: string;
  readonly #roles: ReadonlySet<Role>;
  readonly #allow: ReadonlyMap<Action, readonly string[]>;
  readonly #deny: readonly string[];
  readonly #text: string;

  constructor(rules: IdentityRules) {
    const { subject } = rules;
    if (subject.length === 0 || subject.length > SUBJECT_CHARS_MAX || !/^[\x21-\x7e]+$/.test(subject)) {
      throw new RuleError('subject', subject, '1 to 200 visible ASCII characters');
    }
    for (const key of Object.keys(rules)) {
      if (!KNOWN.has(key)) throw new RuleError(subject, key, `one of ${[...KNOWN].join(', ')}`);
    }
    for (const role of rules.roles ?? []) {
      if (!ROLES.includes(role)) throw new RuleError(subject, role, `one of ${ROLES.join(', ')}`);
    }
    this.subject = subject;
    this.#text = JSON.stringify(rules, Object.keys(rules).sort());
    this.#roles = new Set(rules.roles ?? ROLES);
    this.#allow = new Map(ACTIONS.map((action) => [action, checked(subject, rules[action] ?? [])]));
    this.#deny = checked(subject, rules.deny ?? []);
  }

  /** The same somebody with the same rights. */
  sameAs(other: Identity): boolean {
    return this.#text === other.#text;
  }

  mayBe(role: Role): boolean {
    return this.#roles.has(role);
  }

  /** `on` is a subject without wildcards, already checked by `isSubject`. */
  permits(action: Action, on: string): boolean {
    for (const pattern of this.#deny) if (matches(pattern, on)) return false;
    for (const pattern of this.#allow.get(action) ?? []) if (matches(pattern, on)) return true;
    return false;
  }
}

/** Everybody on a listener without authentication: loopback or a Unix socket, where the operating system is the guard. */
export const LOCAL = new Identity({
  subject: 'local',
  submit: ['>'],
  work: ['>'],
  observe: ['>'],
  cancel: ['>'],
  admin: ['>'],
});

function checked(subject: string, patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) {
    if (!isPattern(pattern))
      throw new RuleError(subject, pattern, 'tokens of [A-Za-z0-9_-], * or a last >, joined by dots');
  }
  return [...patterns];
}
