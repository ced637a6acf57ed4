// timeout: 120s
// The bench command in its own process.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const main = suite('main');
const file = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

function bench(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [file('dist/main.js'), ...args], (error, out, err) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, out, err });
    });
  });
}

/** A temporary folder, removed at the end. */
async function temporaryFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-bench-test-'));
  return {
    path: (name: string) => join(folder, name),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

main('the command without arguments lists the suites', async () => {
  const { code, out } = await bench();
  assert.is(code, 0);
  assert.match(out, /core +the message path/);
  assert.match(out, /savina .*\(31 benchmarks\)/);
  assert.match(out, /fairness/);
});

main('a usage error is one line on standard error and exit code 2', async () => {
  for (const args of [
    ['no-such-suite'],
    ['core', '--systems', 'no-such-system'],
    ['core', '--scale', '-1'],
    ['core', '--only', 'no-such-benchmark'],
    ['gate', '--base', 'no-such-ref'],
    ['gate', '--rounds', '3'],
    ['gate', '--suite', 'no-such-suite'],
    ['report', '/no/such/file.json'],
    ['core', '--adapter', file('test/fixtures/nameless.mjs')],
  ]) {
    const { code, out, err } = await bench(...args);
    assert.is(code, 2, args.join(' '));
    assert.is(out, '');
    assert.match(err, /^bench: [^\n]+\n$/, args.join(' '));
  }
});

main(
  'a run writes JSON, HTML and Markdown, and `report` writes the JSON into a page as a table',
  async () => {
    await using folder = await temporaryFolder();
    const outputs = [
      '--json',
      folder.path('a.json'),
      '--html',
      folder.path('a.html'),
      '--md',
      folder.path('a.md'),
    ];
    const run = await bench(
      ...[
        'core',
        '--systems',
        'troupe,floor',
        '--only',
        'counting,memory',
        '--scale',
        '0.01',
        '--rounds',
        '1',
      ],
      ...outputs,
    );
    assert.is(run.code, 0, run.err);
    assert.match(run.out, /2 benchmarks, 4 rows complete/);
    const report = JSON.parse(await readFile(folder.path('a.json'), 'utf8'));
    assert.is(report.suite, 'core');
    assert.ok(report.ratios.counting['troupe/floor'] > 0);
    assert.ok(
      report.rows.every((row: { attempted: number; completed: number }) => row.attempted === row.completed),
    );
    assert.ok(report.rows.find((row: { benchmark: string }) => row.benchmark === 'memory').heapBytes > 0);
    assert.match(await readFile(folder.path('a.html'), 'utf8'), '<svg');
    await writeFile(folder.path('page.md'), '# x\n<!-- bench:core -->\n<!-- /bench:core -->\n');
    const again = await bench('report', folder.path('a.json'), '--into', folder.path('page.md'));
    assert.is(again.code, 0, again.err);
    assert.match(await readFile(folder.path('page.md'), 'utf8'), '| counting | messages/s |');
  },
);

main('the example adapter of the README runs beside Troupe', async () => {
  const { code, out, err } = await bench(
    ...['savina', '--adapter', file('examples/my-system.mjs'), '--systems', 'troupe,my-system'],
    ...['--only', 'pingpong,chameneos,banking', '--scale', '0.01', '--rounds', '1'],
  );
  assert.is(code, 0, err);
  assert.match(out, /6 rows complete \(6 with their oracle checked\), 0 refused/);
});

main('a system that loses messages has no row, and the run ends with exit code 1', async () => {
  const { code, out } = await bench(
    ...['savina', '--adapter', file('test/fixtures/lossy.mjs'), '--systems', 'lossy'],
    ...['--only', 'count,pingpong', '--scale', '0.01', '--rounds', '1'],
  );
  assert.is(code, 1);
  assert.match(out, /count · lossy: completed \d+ of 10000 messages/);
  assert.match(out, /pingpong · lossy: .*became empty/);
  assert.match(out, /0 rows complete .* 2 refused/);
});

main.run();
