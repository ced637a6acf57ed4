import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseArguments } from '#src/cli/parse-arguments.js';
import { UsageError } from '#src/runner/usage-error.js';

const args = suite('arguments');

function complaint(...argv: string[]): string {
  try {
    parseArguments(argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return '';
}

args('nothing lists the suites', () => {
  assert.equal(parseArguments([]), { kind: 'list' });
});

args('a suite takes its options in either spelling', () => {
  const command = parseArguments([
    ...['savina', '--systems', 'troupe,nact', '--only=pingpong,big', '--scale', '0.1'],
    ...['--json', 'a.json', '--html=b.html', '--rounds', '5', '--runtime', 'node,bun'],
  ]);
  assert.equal(command, {
    kind: 'suite',
    suite: 'savina',
    systems: ['troupe', 'nact'],
    runtimes: ['node', 'bun'],
    adapters: [],
    only: ['pingpong', 'big'],
    scale: 0.1,
    rounds: 5,
    outputs: { json: 'a.json', html: 'b.html' },
  });
});

args('an option may be repeated, and names are kept once', () => {
  const command = parseArguments([
    'core',
    '--systems',
    'troupe',
    '--systems',
    'nact,troupe',
    '--adapter',
    'x.mjs',
  ]);
  assert.is(command.kind, 'suite');
  if (command.kind !== 'suite') return;
  assert.equal(command.systems, ['troupe', 'nact']);
  assert.equal(command.adapters, ['x.mjs']);
});

args('the gate compares `core` with HEAD by default', () => {
  const command = parseArguments(['gate']);
  assert.ok(command.kind === 'gate' && command.suite === 'core' && command.base === 'HEAD');
});

args('the gate takes a suite, a base, rows, rounds and a scale', () => {
  const command = parseArguments([
    ...['gate', '--suite', 'jobs', '--base=main', '--only', 'latency', '--rounds', '8', '--scale', '0.5'],
  ]);
  assert.equal(command, {
    kind: 'gate',
    suite: 'jobs',
    base: 'main',
    only: ['latency'],
    rounds: 8,
    scale: 0.5,
    outputs: {},
  });
});

args('a report takes files and a page', () => {
  const command = parseArguments(['report', 'a.json', 'b.json', '--into', 'page.md']);
  assert.ok(command.kind === 'report' && command.files.length === 2 && command.into === 'page.md');
});

args('bad input is one clear line', () => {
  assert.match(complaint('core', '--scale', '-1'), "--scale must be a number above 0, got '-1'");
  assert.match(complaint('core', '--scale', 'big'), /above 0, got 'big'/);
  assert.match(complaint('core', '--scale', 'Infinity'), /above 0/);
  assert.match(complaint('core', '--rounds', '0'), /whole number from 1/);
  assert.match(complaint('core', '--rounds', '1.5'), /whole number/);
  assert.match(complaint('core', '--frob'), /unknown option --frob/);
  assert.match(complaint('core', '--systems'), /--systems needs a value/);
  assert.match(complaint('core', '--systems', '--json'), /--systems needs a value/);
  assert.match(complaint('core', '--only', ','), /--only names nothing/);
  assert.match(complaint('core', 'savina'), /one suite at a time/);
  assert.match(complaint('core', '--base', 'x'), /--base does not go with core/);
  assert.match(complaint('core', '--suite', 'x'), /--suite does not go with core/);
  assert.match(complaint('gate', '--systems', 'x'), /--systems does not go with gate/);
  assert.match(complaint('--scale', '2'), /--scale needs a suite/);
  assert.match(complaint('report'), /needs a recorded JSON file/);
  assert.match(complaint('core', '--runtime', 'perl'), /unknown runtime 'perl'/);
  assert.match(complaint('--install-peers', 'core'), /goes alone/);
});

args.run();
