import { ExitCode } from './exit-code.js';
import { endWithReader, processTerminal, written } from './output/terminal.js';
import { runTroupe } from './program.js';

// Nothing goes on after something nobody foresaw: what is acknowledged is on the disk, and the next process reads it there.
process.on('uncaughtException', (error) => {
  process.stderr.write(
    `troupe: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exit(ExitCode.internal);
});

endWithReader();
process.exitCode = await runTroupe(process.argv.slice(2), processTerminal());
await written();
// A socket that the other side keeps half open must not keep a finished command.
process.exit();
