import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';

const MARKS = ['STORE', 'CURRENT'];

/** Whatever else is wrong with it, it is the folder of a log. */
export async function mustHoldLog(folder: string): Promise<void> {
  const found = await readdir(folder);
  if (MARKS.some((name) => found.includes(name))) return;
  throw new CliError(
    'ERR_CLI_NO_LOG',
    ExitCode.noInput,
    `${folder}: no log in it; name the --dir of a leader`,
  );
}

/** A copy inside what is copied would be copied too, and go with it. */
export async function mustBeApart(folder: string, target: string): Promise<void> {
  const [one, other] = [await realpath(folder), await realOf(target)];
  if (!within(one, other) && !within(other, one)) return;
  throw new CliError(
    'ERR_CLI_USAGE',
    ExitCode.usage,
    `${target}: inside ${folder}, or around it; name a folder apart`,
  );
}

/** Of a folder that may not be there yet. */
async function realOf(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    return await realpath(path);
  } catch (error) {
    if (!isNotThere(error)) throw error;
    return join(await realOf(dirname(path)), basename(path));
  }
}

/** No folder of that name, perhaps because of a file on the way to it. */
export function isNotThere(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function within(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
}
