// The packages as users get them: each public package packed, judged by publint and attw, then all of them unpacked into an empty
// project and imported by Node and by TypeScript. No network: third-party dependencies are linked from what is
// installed, but only those a package declares, so a forgotten one fails here.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { node, pnpm, run, tool } from '../command.mjs';
import { filesBelow, manifestOf, root, workspaceFolders } from '../workspace.mjs';

/** @typedef {{ path: string, remove: () => void }} PackFolder */

/** Workspace folder of each public package. @returns {Map<string, string>} */
function publicPackages() {
  const folders = workspaceFolders().filter((folder) => manifestOf(folder).private !== true);
  return new Map(folders.map((folder) => [manifestOf(folder).name, folder]));
}

export function packages() {
  return [...publicPackages().keys()];
}

/** @returns {PackFolder} */
export function packFolder() {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-pack-')));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** @param {{ path: string }} folder */
export function packAll({ path }) {
  const filters = [...publicPackages().values()].flatMap((folder) => ['--filter', `./${folder}`]);
  return pnpm(['--recursive', ...filters, 'pack', '--pack-destination', path]);
}

/** @param {PackFolder} folder @param {string} name */
function tarball({ path }, name) {
  const start = `${name.replace('@', '').replace('/', '-')}-`;
  const file = readdirSync(path).find((entry) => entry.startsWith(start) && entry.endsWith('.tgz'));
  return join(path, file ?? `${start}*.tgz`);
}

/** @param {PackFolder} folder @param {string} name */
export async function tryPackage(folder, name) {
  const file = tarball(folder, name);
  const target = join(folder.path, 'node_modules', name);
  mkdirSync(target, { recursive: true });
  const steps = [
    () => run('tar', ['-xzf', file, '-C', target, '--strip-components=1']),
    async () => contentsOf(target),
    () => tool('publint', ['run', file, '--strict']),
    () => tool('attw', [file, '--profile', 'esm-only', '--no-definitely-typed', '--no-color']),
  ];
  for (const step of steps) {
    const outcome = await step();
    if (outcome.code !== 0) return outcome;
  }
  linkDependencies(target, name);
  return { code: 0, output: '' };
}

/** @param {string} target */
function contentsOf(target) {
  const manifest = readFileSync(join(target, 'package.json'), 'utf8');
  const commands = Object.values(JSON.parse(manifest).bin ?? {}).map((file) =>
    String(file).replace(/^\.\//, ''),
  );
  const stray = filesBelow(target).filter(
    (file) =>
      !commands.includes(file) &&
      !/^(dist\/.*\.(js|js\.map|d\.ts)|dist\/page\/\w+\.(html|css)|package\.json|README\.md|LICENSE)$/.test(
        file,
      ),
  );
  const strange = manifest.includes('workspace:');
  const output = [
    ...stray.map((file) => `${file} does not belong into a tarball`),
    ...(strange ? ['package.json still says workspace:'] : []),
  ].join('\n');
  return { code: output === '' ? 0 : 1, output };
}

/** @param {string} target @param {string} name */
function linkDependencies(target, name) {
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(
    readFileSync(join(target, 'package.json'), 'utf8'),
  );
  for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
    if (publicPackages().has(dependency)) continue;
    link(
      join(root, publicPackages().get(name) ?? '', 'node_modules', dependency),
      join(target, 'node_modules', dependency),
    );
  }
}

/** @param {string} from @param {string} to */
function link(from, to) {
  mkdirSync(dirname(to), { recursive: true });
  if (!existsSync(to)) symlinkSync(realpathSync(from), to, 'junction');
}

/** Everything a user may import: package names with the keys of "exports". */
export function entryPoints() {
  return [...publicPackages()].flatMap(([name, folder]) =>
    Object.keys(manifestOf(folder).exports ?? {})
      .filter((entry) => entry !== './package.json')
      .map((entry) => name + entry.slice(1)),
  );
}

/** @param {PackFolder} folder */
export async function useAll({ path }) {
  const entries = entryPoints();
  link(join(root, 'node_modules/@types/node'), join(path, 'node_modules/@types/node'));
  writeFileSync(join(path, 'package.json'), '{ "type": "module", "private": true }\n');
  writeFileSync(join(path, 'use.mjs'), runtimeUse(entries));
  writeFileSync(join(path, 'use.ts'), typedUse(entries));
  writeFileSync(
    join(path, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: consumerOptions, files: ['use.ts'] }),
  );
  const imported = await node(['use.mjs'], { cwd: path });
  if (imported.code !== 0) return imported;
  return tool('tsc', ['-p', path], { cwd: path });
}

/** @param {string[]} entries */
function runtimeUse(entries) {
  const closed = packages().map((name) => `${name}/dist/index.js`);
  return `for (const entry of ${JSON.stringify(entries)}) await import(entry);
for (const entry of ${JSON.stringify(closed)}) {
  const reached = await import(entry).then(() => true, (error) => error.code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED');
  if (reached) throw new Error(entry + ' can be imported, but is internal');
}
`;
}

/** @param {string[]} entries */
function typedUse(entries) {
  const imports = entries.map((entry, at) => `import * as entry${at} from '${entry}';`);
  return `${imports.join('\n')}\nexport const all: object[] = [${entries.map((_, at) => `entry${at}`).join(', ')}];\n`;
}

// Declarations are checked too (no skipLibCheck): a user with these plain options must be able to compile.
const consumerOptions = { strict: true, noEmit: true, module: 'NodeNext', target: 'ES2022', types: ['node'] };
