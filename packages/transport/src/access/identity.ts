import { AccessRuleError } from '../errors.js';
import { isSubjectPattern, matchesSubject } from './subject-pattern.js';

export type Role = 'client' | 'worker' | 'peer';
export type Action = 'submit' | 'work' | 'observe' | 'cancel' | 'admin';

/** What somebody may do, as written in a configuration. What no rule allows is forbidden; `deny` beats every other rule. */
export interface IdentityRules {
  readonly name: string;
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
const KNOWN: ReadonlySet<string> = new Set(['name', 'roles', 'deny', ...ACTIONS]);
const NAME_CHARS_MAX = 200;

/** Who is at the other end of a connection. Made once, when the configuration is read; every pattern in it was checked then. */
export class Identity {
  readonly name: string;
  private readonly roles: ReadonlySet<Role>;
  private readonly allowed: ReadonlyMap<Action, readonly string[]>;
  private readonly denied: readonly string[];
  private readonly canonicalRules: string;

  constructor(rules: IdentityRules) {
    const { name } = rules;
    if (name.length === 0 || name.length > NAME_CHARS_MAX || !/^[\x21-\x7e]+$/.test(name)) {
      throw new AccessRuleError('identity name', name, '1 to 200 visible ASCII characters');
    }
    for (const key of Object.keys(rules)) {
      if (!KNOWN.has(key)) throw new AccessRuleError(name, key, `one of ${[...KNOWN].join(', ')}`);
    }
    for (const role of rules.roles ?? []) {
      if (!ROLES.includes(role)) throw new AccessRuleError(name, role, `one of ${ROLES.join(', ')}`);
    }
    this.name = name;
    this.canonicalRules = JSON.stringify(rules, Object.keys(rules).sort());
    this.roles = new Set(rules.roles ?? ROLES);
    this.allowed = new Map(ACTIONS.map((action) => [action, checkPatterns(name, rules[action] ?? [])]));
    this.denied = checkPatterns(name, rules.deny ?? []);
  }

  /** The same somebody with the same rights. */
  hasSameRules(other: Identity): boolean {
    return this.canonicalRules === other.canonicalRules;
  }

  mayActAs(role: Role): boolean {
    return this.roles.has(role);
  }

  /** `on` is a subject without wildcards, already checked by `isSubject`. */
  permits(action: Action, on: string): boolean {
    for (const pattern of this.denied) if (matchesSubject(pattern, on)) return false;
    for (const pattern of this.allowed.get(action) ?? []) if (matchesSubject(pattern, on)) return true;
    return false;
  }
}

/** Everybody on a listener without authentication: loopback or a Unix socket, where the operating system is the guard. */
export const LOCAL_IDENTITY = new Identity({
  name: 'local',
  submit: ['>'],
  work: ['>'],
  observe: ['>'],
  cancel: ['>'],
  admin: ['>'],
});

function checkPatterns(name: string, patterns: readonly string[]): readonly string[] {
  for (const pattern of patterns) {
    if (!isSubjectPattern(pattern))
      throw new AccessRuleError(name, pattern, 'tokens of [A-Za-z0-9_-], * or a last >, joined by dots');
  }
  return [...patterns];
}
