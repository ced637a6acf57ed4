import { cp, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Log, openLog, verifyWal } from '@troupe/wal';
import type { Command } from 'commander';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';
import { ProgressBar } from '../progress-bar.js';
import { type JsonFlag, print, type Tools, verb } from '../verb.js';

export function addBackup(program: Command, tools: Tools): void {
  verb(
    program,
    'backup <folder> <target>',
    'copy the folder of a stopped leader, and verify the copy',
    'troupe backup ./state ./state-backup',
  ).action(async (folder: string, target: string, flags: JsonFlag) => {
    await readdir(folder);
    // Held open for the whole copy, so that no leader starts in the middle of it.
    const log = await open(folder);
    try {
      await copy(tools, flags, folder, target);
    } finally {
      await new Promise<void>((resolve) => log.close(() => resolve()));
    }
  });
  verb(
    program,
    'restore <backup> <folder>',
    'put a backup into a new folder, verified before and after',
    'troupe restore ./state-backup ./state',
  ).action(async (backup: string, folder: string, flags: JsonFlag) => {
    await readdir(backup);
    await mustBeGood(backup);
    await copy(tools, flags, backup, folder);
  });
}

async function copy(tools: Tools, flags: JsonFlag, from: string, to: string): Promise<void> {
  await mustBeNew(to);
  await mkdir(to, { recursive: true, mode: 0o700 });
  const names = (await readdir(from)).filter((name) => !name.startsWith('LOCK') && !name.endsWith('.sock'));
  const bar = new ProgressBar(tools.terminal, 'copying', names.length);
  for (const [i, name] of names.entries()) {
    await cp(join(from, name), join(to, name), { recursive: true, errorOnExist: true, force: false });
    bar.at(i + 1);
  }
  bar.end();
  try {
    await mustBeGood(to);
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
  const { lastLsn } = await verifyWal(to);
  print(tools, flags, { from, to, files: names.length, lastLsn }, [
    `${from} → ${to}: ${names.length} files, verified up to lsn ${lastLsn}`,
  ]);
}

async function mustBeGood(folder: string): Promise<void> {
  const report = await verifyWal(folder);
  if (report.ok) return;
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

function open(dir: string): Promise<Log> {
  return new Promise((resolve, reject) => {
    openLog({ dir }, (error, log) => (error === null ? resolve(log) : reject(error)));
  });
}
