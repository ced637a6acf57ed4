#!/usr/bin/env node
import { installPeers } from './cli/install-peers.js';
import { type BenchCommand, parseArguments } from './cli/parse-arguments.js';
import { help, listSuites } from './cli/print-help.js';
import { reportCommand } from './cli/report-command.js';
import { runSuiteCommand } from './cli/suite-command.js';
import { gateCommand } from './gate/gate-command.js';
import { UsageError } from './runner/usage-error.js';

const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function execute(command: BenchCommand): Promise<number> {
  switch (command.kind) {
    case 'list':
      return listSuites(print);
    case 'help':
      return help(print);
    case 'install-peers':
      return installPeers(print);
    case 'suite':
      return runSuiteCommand(command, print);
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
