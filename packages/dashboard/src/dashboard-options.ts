import type { Host } from '@troupe/core';
import {
  checkOptions,
  listOf,
  object,
  oneOf,
  options,
  rule,
  text,
  wholeNumber,
} from '@troupe/core/option-check';
import type { Client, JobDefinition } from '@troupe/jobs';
import type { AccessToken } from './access/access-tokens.js';
import { ROLES } from './access/role.js';

export interface DashboardOptions {
  /** The way to the leader: of `connectClient` or `app.client()`. It stays open when the dashboard closes. */
  readonly client: Client;
  /** Jobs whose inputs are checked here. Others pass as they are, and their worker checks them. */
  readonly jobs?: readonly JobDefinition[] | undefined;
  /** Tokens and their rights. Default: no tokens, and everybody who reaches the address may do everything. */
  readonly tokens?: readonly AccessToken[] | undefined;
  /** Names under which the address is reached, beside those of loopback. Default: none. */
  readonly hosts?: readonly string[] | undefined;
  /** The largest body of a request. Default 8,388,608. */
  readonly bodyBytesMax?: number | undefined;
  /**
   * Fields of inputs, outputs and chunks whose values are not shown: a name hides that field at any depth, a
   * path such as `card.number` or `users.*.email` from the root. Default: none.
   */
  readonly redact?: readonly string[] | undefined;
  /** Clock. Default: this Node process. */
  readonly host?: Pick<Host, 'now'> | undefined;
}

const TOKEN_CHARS_MIN = 16;
const secret = rule(
  `a text of at least ${TOKEN_CHARS_MIN} characters`,
  (value) => typeof value === 'string' && value.length >= TOKEN_CHARS_MIN && value.length <= 512,
);
const tokenName = rule(
  '1 to 100 letters, digits and _ . : @ / -',
  (value) => typeof value === 'string' && /^[\w.:@/-]{1,100}$/.test(value),
);
const token = options({ name: tokenName, token: secret, roles: listOf(oneOf(ROLES)) }, [
  'name',
  'token',
  'roles',
]);

export function checkDashboardOptions(given: DashboardOptions): void {
  const rules = {
    client: object,
    jobs: listOf(object),
    tokens: listOf(token),
    hosts: listOf(text(255)),
    bodyBytesMax: wholeNumber(1, 2 ** 31),
    redact: listOf(text(255)),
    host: object,
  } satisfies Record<keyof DashboardOptions, unknown>;
  checkOptions('dashboard', given, rules, { required: ['client'] });
}
