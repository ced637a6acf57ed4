import { readFileSync, statSync } from 'node:fs';
import type { AccessToken } from '@troupe/dashboard';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

/** Tokens of an HTTP gateway: an array of `{ name, token, roles }`. `serveDashboard` checks the values. */
export function readTokenFile(path: string): readonly AccessToken[] {
  // A file of secrets that other users can read is refused.
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    throw tokenFileError(path, `others may read it; run: chmod 600 ${path}`);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw tokenFileError(path, 'not JSON');
  }
  if (!Array.isArray(value) || value.length === 0)
    throw tokenFileError(
      path,
      'needed an array such as [{ "name": "ci", "token": "…", "roles": ["submit"] }]',
    );
  return value as readonly AccessToken[];
}

function tokenFileError(path: string, problem: string): CliError {
  return new CliError('ERR_CLI_TOKEN_FILE', ExitCode.config, `token file ${path}: ${problem}`);
}
