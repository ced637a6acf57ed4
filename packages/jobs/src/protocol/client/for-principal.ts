/** Part of a request of a client that acts for users of its own, whom the leader does not know. */
export interface ForPrincipal {
  /** Its user: a plain name, which the audit has behind the name of the client. */
  readonly principal?: string | undefined;
}
