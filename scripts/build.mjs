// tsc -b, after removing what earlier builds left behind; then the bundle of the dashboard's page.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { bundlePage } from './bundle-page.mjs';
import { writeSnippets } from './check/snippets.mjs';
import { tool } from './command.mjs';
import { filesBelow, root, workspaceFolders } from './workspace.mjs';

/** Source folder → output folder, inside every workspace folder that has them. */
const outputs = [
  { from: 'src', to: 'dist' },
  { from: 'test', to: '.test' },
  { from: '.', to: '.test' },
];

/**
 * Removes compiled files whose source is gone. Without this a test could import, and a tarball could ship, a module
 * that no longer exists.
 */
function prune() {
  for (const folder of workspaceFolders()) {
    for (const { from, to } of outputs) {
      const source = join(root, folder, from);
      const output = join(root, folder, to);
      const flat = from === '.';
      if (!existsSync(source) || flat !== (folder === 'docs/examples')) continue;
      for (const file of filesBelow(output)) {
        const stem = file.replace(/(\.d\.ts|\.js)(\.map)?$/, '');
        // The bundle of the page has no source of its name.
        if (file.startsWith('page/')) continue;
        if (stem !== file && !existsSync(join(source, `${stem}.ts`))) rmSync(join(output, file));
      }
    }
  }
}

/**
 * @param {string[]} projects folders with a tsconfig.json; none: all of them
 * @returns {Promise<{ code: number, output: string }>}
 */
export async function build(projects) {
  writeSnippets();
  prune();
  const built = await tool('tsc', ['-b', ...projects]);
  if (built.code === 0) await bundlePage();
  return built;
}
