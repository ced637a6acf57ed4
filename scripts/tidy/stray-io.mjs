// Time, chance and the outside world enter through a host port, so that the simulator can replace them. Only files that
// implement a port for Node (node-*.ts, host/) and fakes (testing/) may touch the real thing.
import { lineAt } from './source-text.mjs';

const hostless = /^packages\/(core|wal|transport|threads|jobs)\/src\/.*\.ts$/;
const exempt = /\/(host|testing)\/|\/node-[^/]*\.ts$/;

const outsideModules =
  /^(node:)?(net|tls|fs|fs\/promises|dgram|dns|dns\/promises|http|https|http2|child_process|worker_threads|cluster|timers|timers\/promises|os|perf_hooks|readline|readline\/promises)$/;

/** Calls, with the reason a reader needs. `new Date(ms)` is a pure function of its argument and may stay. */
const calls = [
  {
    pattern: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(\(\s*\)|(?![\s(\w]))|(?<!new\s+)(?<![.\w$])Date\s*\(/g,
    name: 'the clock',
  },
  { pattern: /\bperformance\s*\.\s*(now|timeOrigin)\b|\bprocess\s*\.\s*hrtime\b/g, name: 'the clock' },
  {
    pattern:
      /\bMath\s*\.\s*random\b|\b(randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)\b/g,
    name: 'randomness',
  },
  {
    pattern:
      /(?<![.\w$#])(setTimeout|setInterval|setImmediate)\b|\bglobalThis\s*\.\s*set(Timeout|Interval|Immediate)\b/g,
    name: 'a timer',
  },
  {
    pattern: /\bprocess\s*\.\s*(nextTick|exit|kill|abort|on|once|env|argv|stdout|stderr|stdin)\b/g,
    name: 'the process',
  },
  { pattern: /(?<![.\w$#])(fetch\s*\(|console\s*\.)/g, name: 'the outside world' },
];

/** @param {import('./tree.mjs').Tree} tree @returns {import('./tree.mjs').Finding[]} */
export function checkStrayIo(tree) {
  return tree
    .paths(hostless)
    .filter((file) => !exempt.test(file))
    .flatMap((file) => [...strayImports(tree, file), ...strayCalls(file, tree.source(file).code)]);
}

/** @param {import('./tree.mjs').Tree} tree @param {string} file */
function strayImports(tree, file) {
  return tree
    .imports(file)
    .filter(({ specifier, typeOnly }) => !typeOnly && outsideModules.test(specifier))
    .map(({ specifier, line }) => ({
      file,
      line,
      text: `imports ${specifier}: only a host file (node-*.ts) may`,
    }));
}

/** @param {string} file @param {string} code */
function strayCalls(file, code) {
  return calls.flatMap(({ pattern, name }) =>
    [...code.matchAll(pattern)].map((match) => ({
      file,
      line: lineAt(code, match.index),
      text: `uses ${match[0].trim()}: ${name} comes from the host port`,
    })),
  );
}
