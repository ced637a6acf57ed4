import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { copyWal, nodeStorage, type VerifyReport, verifyWal } from '@troupe/wal';
import type { Command } from 'commander';
import { CliError } from '../../cli-error.js';
import { ExitCode } from '../../exit-code.js';
import { isEmptyFolder, mustHoldLog, mustNotOverlap } from '../../input/files/check-log-folder.js';
import { ProgressBar } from '../../output/progress/progress-bar.js';
import { readableUntilSignal } from '../../signals/signal-interruption.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

export function addBackup(program: Command, context: CommandContext): void {
  subcommand(
    program,
    'backup <folder> <target>',
    'copy the folder of a leader, running or not, and verify the copy',
    'troupe backup ./state ./state-backup',
  ).action(async (folder: string, target: string, flags: JsonFlag) => {
    await mustHoldLog(folder);
    await copy(context, flags, folder, target);
  });
  subcommand(
    program,
    'restore <backup> <folder>',
    'put a backup into a new folder, verified before and after',
    'troupe restore ./state-backup ./state',
  ).action(async (backup: string, folder: string, flags: JsonFlag) => {
    await mustHoldLog(backup);
    await mustVerify(backup);
    await copy(context, flags, backup, folder);
  });
}

async function copy(context: CommandContext, flags: JsonFlag, from: string, to: string): Promise<void> {
  await mustNotOverlap(from, to);
  const wasThere = await isEmptyFolder(to);
  const readable = readableUntilSignal('copying');
  if (!wasThere) await promisify(nodeStorage(to).mkdir)('.');
  try {
    const bar = new ProgressBar(context.terminal, 'copying', (await readdir(from)).length);
    const copying = copyWal(readable(nodeStorage(from)), to, { onFile: (count) => bar.at(count) });
    const { files, retries } = await copying.finally(() => bar.end());
    const { lastLsn } = await mustVerify(to, readable(nodeStorage(to)));
    printResult(context, flags, { from, to, files, retries, lastLsn }, [
      `${from} → ${to}: ${files} files, verified up to lsn ${lastLsn}`,
    ]);
  } catch (error) {
    await remove(to, { butFolder: wasThere });
    throw error;
  }
}

/** A folder that existed before, perhaps the root of a disk, stays. */
async function remove(folder: string, { butFolder }: { readonly butFolder: boolean }): Promise<void> {
  const paths = butFolder ? (await readdir(folder)).map((name) => join(folder, name)) : [folder];
  for (const path of paths) await rm(path, { recursive: true, force: true });
}

async function mustVerify(folder: string, storage = nodeStorage(folder)): Promise<VerifyReport> {
  const report = await verifyWal(storage);
  if (report.ok) return report;
  const [first] = report.damage;
  const what =
    first === undefined ? 'it does not open' : `${first.file} at byte ${first.offset}: ${first.reason}`;
  throw new CliError('ERR_CLI_BACKUP', ExitCode.data, `${folder}: damaged, ${what}; use another backup`);
}
