import { createReadStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { loadLedger } from '@troupe/jobs';
import type { CodecName } from '@troupe/wal';
import type { Command } from 'commander';
import { isEmptyFolder } from '../../input/files/check-log-folder.js';
import { readLines } from '../../input/job/payload-input.js';
import { logFormatOption } from '../../input/log-format-option.js';
import { type CommandContext, type JsonFlag, printResult, subcommand } from '../../subcommand.js';

interface LoadFlags extends JsonFlag {
  readonly file?: string;
  readonly blobs?: string;
  readonly logFormat?: CodecName;
}

export function addWalLoad(wal: Command, context: CommandContext): void {
  subcommand(
    wal,
    'load <folder>',
    'make a folder of the lines of wal dump, edited or not',
    'troupe wal load ./mended --file records.jsonl',
    'A line that the lines before it do not allow is refused with its number.',
  )
    .option('-f, --file <path>', 'the lines; default and - are standard input')
    .option('--blobs <folder>', 'blobs/ of the folder that was dumped, for lines with stored payloads')
    .addOption(logFormatOption())
    .action((folder: string, flags: LoadFlags) => load(context, folder, flags));
}

/** The folder gets its name when all lines are in it: one that was not finished is no leader's folder. */
async function load(context: CommandContext, folder: string, flags: LoadFlags): Promise<void> {
  await isEmptyFolder(folder);
  const unfinished = `${resolve(folder)}.loading`;
  const { blobs } = flags;
  await rm(unfinished, { recursive: true, force: true });
  try {
    const loaded = await loadLedger(readLines(flags.file), {
      dir: unfinished,
      wal: { codec: flags.logFormat },
      openStored: blobs === undefined ? undefined : (sha256) => createReadStream(join(blobs, sha256)),
    });
    await rename(unfinished, folder);
    const { lines, counts } = loaded;
    const jobs = `${counts.queued} jobs queued, ${counts.running} running, ${counts.dead} dead`;
    printResult(context, flags, { folder, ...loaded }, [`${folder}: ${lines} lines, ${jobs}`]);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    throw error;
  }
}
