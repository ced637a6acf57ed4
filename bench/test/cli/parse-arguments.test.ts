import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseArguments } from '#src/cli/parse-arguments.js';
import { UsageError } from '#src/runner/usage-error.js';

const args = suite('arguments');

function usageError(...argv: string[]): string {
  try {
    parseArguments(argv);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return '';
}

args('no arguments list the suites', () => {
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
    outputs: { json: 'a.json', html: 'b.html', md: undefined, svg: undefined },
  });
});

args('a repeated option adds its names, without duplicates', () => {
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
    outputs: { json: undefined, html: undefined, md: undefined, svg: undefined },
  });
});

args('a report takes files and a page', () => {
  const command = parseArguments(['report', 'a.json', 'b.json', '--into', 'page.md']);
  assert.ok(command.kind === 'report' && command.files.length === 2 && command.into === 'page.md');
});

args('every usage error names the wrong argument', () => {
  assert.match(usageError('core', '--scale', '-1'), "--scale must be a number above 0, got '-1'");
  assert.match(usageError('core', '--scale', 'big'), /above 0, got 'big'/);
  assert.match(usageError('core', '--scale', 'Infinity'), /above 0/);
  assert.match(usageError('core', '--rounds', '0'), /whole number from 1/);
  assert.match(usageError('core', '--rounds', '1.5'), /whole number/);
  assert.match(usageError('core', '--frob'), /unknown option --frob/);
  assert.match(usageError('core', '--systems'), /--systems needs a value/);
  assert.match(usageError('core', '--systems', '--json'), /--systems needs a value/);
  assert.match(usageError('core', '--only', ','), /--only has no names/);
  assert.match(usageError('core', 'savina'), /one suite at a time/);
  assert.match(usageError('core', '--base', 'x'), /--base is not an option of core/);
  assert.match(usageError('core', '--suite', 'x'), /--suite is not an option of core/);
  assert.match(usageError('gate', '--systems', 'x'), /--systems is not an option of gate/);
  assert.match(usageError('--scale', '2'), /--scale needs a suite/);
  assert.match(usageError('report'), /needs a recorded JSON file/);
  assert.match(usageError('core', '--runtime', 'perl'), /unknown runtime 'perl'/);
  assert.match(usageError('--install-peers', 'core'), /takes no suite and no options/);
});

args.run();
