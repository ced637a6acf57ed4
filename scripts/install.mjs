// Installs the dependencies when, and only when, what is installed differs from what the lock file says.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pnpm, pnpmSpec } from './command.mjs';
import { manifestOf, root, workspaceFolders } from './workspace.mjs';

// Inside node_modules, so that deleting it deletes the stamp too. Content, not times: git sets times freely.
const stamp = join(root, 'node_modules', '.troupe-installed');

function wanted() {
  const hash = createHash('sha256');
  const files = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc'];
  for (const folder of workspaceFolders()) files.push(`${folder}/package.json`);
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  return hash.digest('hex');
}

function isInstalled() {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== wanted()) return false;
  return workspaceFolders().every((folder) => {
    const { dependencies = {}, devDependencies = {} } = manifestOf(folder);
    const names = Object.keys({ ...dependencies, ...devDependencies });
    return names.every((name) => existsSync(join(root, folder, 'node_modules', name)));
  });
}

/** @returns {Promise<boolean>} whether the dependencies are there */
export async function install() {
  if (isInstalled()) return true;
  console.log(`installing dependencies with ${pnpmSpec} ...`);
  const startedAt = performance.now();
  // Given here, because `npm -s` would silence the one message that says why.
  const { code, output } = await pnpm(['install', '--frozen-lockfile', '--loglevel=info']);
  if (code !== 0) {
    console.error(output.trimEnd());
    const hint = output.includes('OUTDATED_LOCKFILE')
      ? `; bring the lock file up to date: npx ${pnpmSpec} install`
      : '';
    console.error(`install: ${pnpmSpec} ended with ${code}${hint}`);
    return false;
  }
  writeFileSync(stamp, wanted());
  console.log(`installed in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  return true;
}
