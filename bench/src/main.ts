#!/usr/bin/env node
import { type BenchCommand, parseArguments } from './cli/arguments.js';
import { help, listSuites } from './cli/help.js';
import { installPeers } from './cli/install-peers.js';
import { reportCommand } from './cli/report-command.js';
import { runSuiteCommand } from './cli/run-suite.js';
import { gateCommand } from './gate/gate-command.js';
import { UsageError } from './runner/usage-error.js';

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

function execute(command: BenchCommand): Promise<number> {
  switch (command.kind) {
    case 'list':
      return listSuites(say);
    case 'help':
      return help(say);
    case 'install-peers':
      return installPeers(say);
    case 'suite':
      return runSuiteCommand(command, say);
    case 'gate':
      return gateCommand(command, say);
    case 'report':
      return reportCommand(command, say);
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
