// uvu reports success for a suite that never runs and for a hook that throws; so neither may be written.
import { lineAt, readSource } from './source-text.mjs';

const testFile = /(^|\/)test\/(?!fixtures\/).*\.test\.(ts|mjs)$/;

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function checkTests(tree) {
  const suites = tree
    .paths(testFile)
    .flatMap((file) => suiteProblems(tree.text(file)).map((problem) => ({ file, ...problem })));
  return [...suites, ...uncheckedProcesses(tree)];
}

/** Tests about the entries and the options themselves. */
const ABOUT_ENTRIES =
  /\/test\/(checked-processes|entries\.test|option-check\.test|embedded\/killed-process)\.ts$/;

/**
 * Tests of jobs start leaders, workers and clients by test/checked-processes.ts, where a dead letter fails them.
 * @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]}
 */
function uncheckedProcesses(tree) {
  const files = tree
    .paths(/^packages\/jobs\/test\/(?!types\/).*\.ts$/)
    .filter((file) => !ABOUT_ENTRIES.test(file));
  return files.flatMap((file) => {
    const { withStrings } = readSource(tree.text(file));
    const imports = withStrings.matchAll(/\bimport\s*\{([^}]*)\}\s*from\s*'@troupe\/jobs'/g);
    const names = [...imports].flatMap(
      (match) => match[1]?.match(/\b(startLeader|startWorker|connectClient|embedded)\b/g) ?? [],
    );
    return names.map((name) => ({
      file,
      text: `imports ${name} of @troupe/jobs: use that of test/checked-processes.ts`,
    }));
  });
}

/** Also asked by the test runner, about every file it runs. @param {string} text @returns {{ line?: number, text: string }[]} */
export function suiteProblems(text) {
  const { code, withStrings } = readSource(text);
  const suites = [...code.matchAll(/\b(?:const|let|var)\s+([\w$]+)\s*=\s*suite\s*\(/g)].map(
    (match) => match[1] ?? '',
  );
  const problems = suites.flatMap((name) => problemsOf(name, code));
  for (const match of code.matchAll(/\bimport\s*\{[^}]*\btest\b[^}]*\}\s*from\s*['"]/g)) {
    if (!/^uvu['"]/.test(withStrings.slice(match.index + match[0].length))) continue;
    problems.push({ text: "name the suite: const x = suite('noun'), not the bare test of uvu" });
  }
  if (suites.length === 0) problems.push({ text: 'no suite: const x = suite(...)' });
  if (!/\.run\(\);\s*$/.test(code)) problems.push({ text: 'the last statement is not .run();' });
  return problems;
}

/** @param {string} name @param {string} code */
function problemsOf(name, code) {
  const at = (/** @type {string} */ rest) => [
    ...code.matchAll(new RegExp(`(?<![.\\w$])${name.replaceAll('$', '\\$')}${rest}`, 'g')),
  ];
  const runs = at('\\s*\\.\\s*run\\s*\\(');
  const problems = at('\\s*\\.\\s*(before|after|only|skip)\\b').map((match) => ({
    line: lineAt(code, match.index),
    text: `${match[0]}: uvu swallows what a hook throws, and a test that is only or skipped hides others`,
  }));
  const last = runs.at(-1);
  if (last === undefined) return [...problems, { text: `suite ${name} is never run` }];
  const late = at('\\s*\\(').filter((match) => match.index > last.index);
  return [
    ...problems,
    ...late.map((match) => ({
      line: lineAt(code, match.index),
      text: `declared after ${name}.run(): never run`,
    })),
  ];
}
