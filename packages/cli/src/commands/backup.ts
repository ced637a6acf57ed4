import { mkdir, readdir, rm } from 'node:fs/promises';
import { copyWal, type VerifyReport, verifyWal } from '@troupe/wal';
import type { Command } from 'commander';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';
import { unlessInterrupted } from '../interrupt.js';
import { ProgressBar } from '../progress-bar.js';
import { mustBeApart, mustHoldLog } from '../session/log-folder.js';
import { type JsonFlag, print, type Tools, verb } from '../verb.js';

export function addBackup(program: Command, tools: Tools): void {
  verb(
    program,
    'backup <folder> <target>',
    'copy the folder of a leader, running or not, and verify the copy',
    'troupe backup ./state ./state-backup',
  ).action(async (folder: string, target: string, flags: JsonFlag) => {
    await mustHoldLog(folder);
    await copy(tools, flags, folder, target);
  });
  verb(
    program,
    'restore <backup> <folder>',
    'put a backup into a new folder, verified before and after',
    'troupe restore ./state-backup ./state',
  ).action(async (backup: string, folder: string, flags: JsonFlag) => {
    await mustHoldLog(backup);
    await mustBeGood(backup);
    await copy(tools, flags, backup, folder);
  });
}

async function copy(tools: Tools, flags: JsonFlag, from: string, to: string): Promise<void> {
  await mustBeApart(from, to);
  await mustBeNew(to);
  await mkdir(to, { recursive: true, mode: 0o700 });
  try {
    const bar = new ProgressBar(tools.terminal, 'copying', (await readdir(from)).length);
    const copying = copyWal(from, to, { onFile: (count) => bar.at(count) });
    const { files, retries } = await unlessInterrupted('copying', copying).finally(() => bar.end());
    const { lastLsn } = await mustBeGood(to);
    print(tools, flags, { from, to, files, retries, lastLsn }, [
      `${from} → ${to}: ${files} files, verified up to lsn ${lastLsn}`,
    ]);
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
}

async function mustBeGood(folder: string): Promise<VerifyReport> {
  const report = await verifyWal(folder);
  if (report.ok) return report;
  const [first] = report.damage;
  const what =
    first === undefined ? 'it does not open' : `${first.file} at byte ${first.offset}: ${first.reason}`;
  throw new CliError('ERR_CLI_BACKUP', ExitCode.data, `${folder}: damaged, ${what}; use another backup`);
}

async function mustBeNew(folder: string): Promise<void> {
  const found = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (found.length > 0)
    throw new CliError(
      'ERR_CLI_NOT_EMPTY',
      ExitCode.cannotCreate,
      `${folder}: not empty; name a folder that is not there yet`,
    );
}
