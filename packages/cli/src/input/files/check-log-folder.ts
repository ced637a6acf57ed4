import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';

const MARKS = ['STORE', 'CURRENT'];

/** The folder holds a log, in whatever condition. */
export async function mustHoldLog(folder: string): Promise<void> {
  const found = await readdir(folder);
  if (MARKS.some((name) => found.includes(name))) return;
  throw new CliError(
    'ERR_CLI_NO_LOG',
    ExitCode.noInput,
    `${folder}: no log in it; name the --dir of a leader`,
  );
}

/** False if the folder does not exist. Files in a folder are never overwritten. */
export async function isEmptyFolder(folder: string): Promise<boolean> {
  const found = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw error;
  });
  if (found === undefined || found.length === 0) return found !== undefined;
  throw new CliError(
    'ERR_CLI_NOT_EMPTY',
    ExitCode.cannotCreate,
    `${folder}: not empty; name a folder that does not exist yet`,
  );
}

/** A copy inside its own source would be copied too. */
export async function mustNotOverlap(folder: string, target: string): Promise<void> {
  const [one, other] = [await realpath(folder), await realOf(target)];
  if (!within(one, other) && !within(other, one)) return;
  throw new CliError(
    'ERR_CLI_USAGE',
    ExitCode.usage,
    `${target}: inside ${folder}, or around it; name a folder apart`,
  );
}

/** The real path of a folder that may not exist yet. */
async function realOf(folder: string): Promise<string> {
  const path = resolve(folder);
  try {
    return await realpath(path);
  } catch (error) {
    if (!isMissing(error)) throw error;
    return join(await realOf(dirname(path)), basename(path));
  }
}

/** No such folder, or a file in the place of one of its parents. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function within(outer: string, inner: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
}
