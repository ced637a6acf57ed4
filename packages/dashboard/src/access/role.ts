/** Rights of a token. `operate` and `submit` include `read`. */
export const ROLES = ['read', 'submit', 'operate'] as const;
export type Role = (typeof ROLES)[number];

/** The user behind a request. */
export interface Principal {
  /** The name of its token; `local` where no tokens are configured. */
  readonly name: string;
  readonly roles: ReadonlySet<Role>;
}

export const ALL_ROLES: ReadonlySet<Role> = new Set(ROLES);

export function rolesOf(given: readonly Role[]): ReadonlySet<Role> {
  return given.length === 0 ? new Set() : new Set<Role>(['read', ...given]);
}
