import { loadSuite, suiteNames } from '../runner/suite-registry.js';

const usage = `usage: npm run bench -- <suite> [options]
       npm run bench -- gate [--suite core|jobs|wal|transport] [--base <ref>] [--only a,b] [--rounds n] [--scale x]
       npm run bench -- report <recorded.json>... [--into <page.md>] [--html f] [--md f] [--svg f]
       npm run bench -- --install-peers

  --systems a,b    which systems (default: the suite's own list)
  --peers a,b      short for --systems troupe,a,b
  --only a,b       which benchmarks or groups
  --scale x        0.1 is a tenth of the work (default 1)
  --rounds n       fresh processes per benchmark and system (default 3; gate: 10 pairs)
  --runtime a,b    node, bun, deno (default node)
  --adapter file   your own actor system, one file; see bench/README.md
  --suite name     of gate: which suite is compared (default core)
  --base ref       of gate: the commit to compare with (default HEAD)
  --json f --html f --md f   where results go
  --svg f          a line for every benchmark that was run at three sizes or more (name-<size>)`;

/** The list of suites, with what each has. */
export async function listSuites(print: (line: string) => void): Promise<number> {
  print('suites:');
  for (const name of await suiteNames()) {
    const suite = await loadSuite(name);
    print(`  ${name.padEnd(12)} ${suite.title} (${suite.cases.length} benchmarks)`);
  }
  print('  gate         a suite in the working tree against a git ref; fails beyond noise');
  print('  report       renders a recorded run again\n');
  print('run one: npm run bench -- core --json out.json      options: npm run bench -- --help');
  return 0;
}

export async function help(print: (line: string) => void): Promise<number> {
  print(usage);
  print('');
  return listSuites(print);
}
