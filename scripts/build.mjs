// tsc -b, after removing what earlier builds left behind.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
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
        if (stem !== file && !existsSync(join(source, `${stem}.ts`))) rmSync(join(output, file));
      }
    }
  }
}

/**
 * @param {string[]} projects folders with a tsconfig.json; none: all of them
 * @returns {Promise<{ code: number, output: string }>}
 */
export function build(projects) {
  writeSnippets();
  prune();
  return tool('tsc', ['-b', ...projects]);
}
