#!/usr/bin/env node
import { installPeers } from './cli/install-peers.js';
import { type BenchCommand, parseArguments } from './cli/parse-arguments.js';
import type { Print } from './cli/print.js';
import { printHelp, printSuites } from './cli/print-help.js';
import { reportCommand } from './cli/report-command.js';
import { suiteCommand } from './cli/suite-command.js';
import { gateCommand } from './gate/gate-command.js';
import { UsageError } from './runner/usage-error.js';

const print: Print = (line) => {
  process.stdout.write(`${line}\n`);
};

function execute(command: BenchCommand): Promise<number> {
  switch (command.kind) {
    case 'list':
      return printSuites(print);
    case 'help':
      return printHelp(print);
    case 'install-peers':
      return installPeers(print);
    case 'suite':
      return suiteCommand(command, print);
    case 'gate':
      return gateCommand(command, print);
    case 'report':
      return reportCommand(command, print);
    default:
      return command satisfies never;
  }
}

try {
  process.exitCode = await execute(parseArguments(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 2;
}
