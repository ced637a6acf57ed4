import { readFileSync, statSync } from 'node:fs';
import type { DialerAuth, IdentityEntry } from '@troupe/transport';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

/**
 * The file that `troupe key new` writes. The leader reads the rules, a client or worker the id and the key.
 */
export interface KeyFile extends Omit<IdentityEntry, 'keys'> {
  readonly id?: string;
  readonly key?: string;
}

export function readKeyFile(path: string): KeyFile {
  // A key file that other users can read is refused.
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) {
    throw new CliError(
      'ERR_CLI_KEY_FILE',
      ExitCode.config,
      `key file ${path}: others may read it; run: chmod 600 ${path}`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new CliError(
      'ERR_CLI_KEY_FILE',
      ExitCode.config,
      `key file ${path}: not JSON; make one with: troupe key new`,
      {
        cause,
      },
    );
  }
  if (typeof value !== 'object' || value === null || typeof (value as KeyFile).name !== 'string')
    throw new CliError(
      'ERR_CLI_KEY_FILE',
      ExitCode.config,
      `key file ${path}: has no name; make one with: troupe key new`,
    );
  const { id = '', key = '' } = value as KeyFile;
  if (typeof id !== 'string' || typeof key !== 'string')
    throw new CliError(
      'ERR_CLI_KEY_FILE',
      ExitCode.config,
      `key file ${path}: its id and key must be texts; make one with: troupe key new`,
    );
  return value as KeyFile;
}

/** One identity for the leader's directory. An action without a rule is forbidden. */
export function entryOf({ id, key, ...rules }: KeyFile): IdentityEntry {
  return id === undefined || key === undefined ? rules : { ...rules, keys: [{ id, key }] };
}

export function authOf(path: string): DialerAuth {
  const { id, key } = readKeyFile(path);
  if (id === undefined || key === undefined)
    throw new CliError(
      'ERR_CLI_KEY_FILE',
      ExitCode.config,
      `key file ${path}: has no id and key; make one with: troupe key new`,
    );
  return { kind: 'hmac', keyId: id, key };
}
