import { ExitCode } from './exit-code.js';
import { exitWhenReaderCloses, outputFlushed, processTerminal } from './output/terminal.js';
import { runTroupe } from './program.js';

// An unforeseen error ends the process: acknowledged work is on the disk, and the next process reads it
// there.
process.on('uncaughtException', (error) => {
  process.stderr.write(
    `troupe: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(ExitCode.internal);
});

exitWhenReaderCloses();
process.exitCode = await runTroupe(process.argv.slice(2), processTerminal());
await outputFlushed();
// A socket that the other side keeps half open must not keep a finished command.
process.exit();
