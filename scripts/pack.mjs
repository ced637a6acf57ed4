// npm run pack: builds every public package and writes its tarball into ./tarballs, for use in other projects.
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { packAll } from './check/packs.mjs';
import { root } from './workspace.mjs';

const folder = join(root, 'tarballs');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
const steps = [() => build([]), () => packAll({ path: folder })];
for (const step of steps) {
  const { code, output } = await step();
  if (code === 0) continue;
  console.error(output.trimEnd());
  process.exit(code);
}
for (const file of readdirSync(folder).sort()) console.log(`tarballs/${file}`);
console.log('in another project: npm install <this folder>/tarballs/*.tgz');
