// Imports between packages and between folders. An import that no table lists is an error.
import { packageOf, resolveImport } from './imports.mjs';

/** @typedef {import('./tree.mjs').Tree} Tree */
/** @typedef {import('./tree.mjs').Finding} Finding */

/** Packages: what src may import beside node:* and tslib. Type-only imports count: they end up in declarations. */
/** @type {Record<string, string[]>} */
const packageLayers = {
  core: [],
  middleware: ['@troupe/core', 'mnemonist', '@opentelemetry/api'],
  transport: ['@troupe/core'],
  wal: ['@troupe/core'],
  threads: ['@troupe/core'],
  jobs: [
    '@troupe/core',
    '@troupe/threads',
    '@troupe/transport',
    '@troupe/wal',
    '@standard-schema/spec',
    'croner',
  ],
  postgres: ['@troupe/core', '@troupe/jobs', 'postgres'],
  dashboard: ['@troupe/core', '@troupe/jobs', 'hono', '@hono/node-server', '@standard-schema/spec'],
  cli: [
    '@troupe/core',
    '@troupe/middleware',
    '@troupe/transport',
    '@troupe/wal',
    '@troupe/jobs',
    '@troupe/dashboard',
    '@troupe/postgres',
    'commander',
    '@standard-schema/spec',
  ],
};

/**
 * The stages of core, lowest first: a stage may import values of the stages before it, and of no other. Types may point
 * upward. The first group is the path of a message, the second the definition of an actor and its refs, the third the
 * life of an actor, the fourth is built on actors; the composition root stands above all.
 */
const coreStages = [
  ...['timers', 'message', 'mailbox', 'run-queue', 'invoker', 'executor'],
  ...['inspect', 'ref', 'waits', 'middleware', 'define'],
  ...['actor', 'lifecycle', 'supervision'],
  ...['routing', 'remote', 'tree', 'adapt'],
  ...['system-options', 'runtime', 'system'],
];

/** Roles of jobs, which only meet on the wire. */
const roles = ['leader', 'worker', 'client'];

/** @param {Tree} tree @returns {Finding[]} */
export function checkLayers(tree) {
  return tree.paths(/^packages\/[^/]+\/src\/.*\.ts$/).flatMap((file) =>
    tree.imports(file).flatMap((edge) => {
      const text = edge.specifier.startsWith('.')
        ? innerProblem(file, edge)
        : outerProblem(file, edge.specifier);
      return text === undefined ? [] : [{ file, line: edge.line, text }];
    }),
  );
}

/** @param {string} file @param {string} specifier */
function outerProblem(file, specifier) {
  const name = file.split('/')[1] ?? '';
  if (specifier.startsWith('node:') || specifier === 'tslib') return undefined;
  const allowed = packageLayers[name];
  if (allowed === undefined) return `package ${name} has no row in scripts/tidy/layers.mjs`;
  if (specifier.startsWith('#')) return `${specifier} is for tests; sources import by relative path`;
  if (allowed.includes(packageOf(specifier))) return undefined;
  return `${name} may not import ${specifier}: only ${allowed.join(', ') || 'node:* and tslib'}`;
}

/** @param {string} file @param {import('./imports.mjs').Import} edge */
function innerProblem(file, { specifier, typeOnly }) {
  const target = resolveImport(file, specifier);
  const home = file.split('/').slice(0, 3).join('/');
  if (!target.startsWith(`${home}/`)) return `${specifier} leaves the package: import it by its name`;
  const [from, to] = [placeOf(file), placeOf(target)];
  if (home === 'packages/core/src' && !typeOnly) return stageProblem(from, to);
  if (home === 'packages/jobs/src' && from !== to && roles.includes(from) && roles.includes(to)) {
    return `${from} may not import ${to}: the roles meet on the wire only`;
  }
  return undefined;
}

/** The folder below src; a file beside the folders is a place of its own, by its name. @param {string} file */
function placeOf(file) {
  return (file.split('/')[3] ?? '').replace(/\.ts$/, '');
}

/** @param {string} from @param {string} to */
function stageProblem(from, to) {
  const rank = (/** @type {string} */ place) => coreStages.indexOf(place);
  if (from === to || rank(to) === -1) return undefined;
  // Files beside the stages serve all of them, so they stand below all; entry points may import everything.
  if (rank(from) === -1) {
    return from === 'index' || from === 'testing'
      ? undefined
      : `${from} serves every stage and may not import ${to}`;
  }
  return rank(to) < rank(from)
    ? undefined
    : `${from} may not import values of ${to}: it is not a lower stage`;
}
