import { loadSuite, suiteNames } from '../runner/suite-registry.js';
import type { Print } from './print.js';

const usage = `usage: npm run bench -- <suite> [options]
       npm run bench -- gate [--suite core|jobs|wal|transport] [--base <ref>] [--only a,b] [--rounds n] [--scale x]
       npm run bench -- report <recorded.json>... [--into <page.md>] [--html f] [--md f] [--svg f]
       npm run bench -- --install-peers

  --systems a,b    systems to run (default: the list of the suite)
  --peers a,b      short for --systems troupe,a,b
  --only a,b       benchmarks or groups to run (default: all)
  --scale x        0.1 is a tenth of the work (default 1)
  --rounds n       fresh processes per benchmark and system (default 3; gate: 10 pairs)
  --runtime a,b    node, bun, deno (default node)
  --adapter file   adapter of your own actor system; see bench/README.md
  --suite name     gate: the suite to compare (default core)
  --base ref       gate: the commit to compare with (default HEAD)
  --json f --html f --md f   files for the results
  --svg f          line charts of benchmarks with three sizes or more (name-<size>)
  --into page.md   report: the page whose table is replaced`;

/** Prints the suites with their titles. */
export async function printSuites(print: Print): Promise<number> {
  print('suites:');
  for (const name of await suiteNames()) {
    const suite = await loadSuite(name);
    print(`  ${name.padEnd(12)} ${suite.title} (${suite.cases.length} benchmarks)`);
  }
  print('  gate         compares a suite of the working tree with a git ref; fails beyond noise');
  print('  report       prints a recorded run again\n');
  print('run one: npm run bench -- core --json out.json      options: npm run bench -- --help');
  return 0;
}

/** Prints the options, then the suites. */
export async function printHelp(print: Print): Promise<number> {
  print(usage);
  print('');
  return printSuites(print);
}
