// The page of the dashboard: the compiled modules as one script, with its document and style beside it.
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './workspace.mjs';

const home = join(root, 'packages/dashboard');

/** Does nothing if the page is not compiled yet. */
export async function bundlePage() {
  const entry = join(home, '.page/main.js');
  if (!existsSync(entry)) return;
  const { build } = await import('esbuild');
  const out = join(home, 'dist/page');
  mkdirSync(out, { recursive: true });
  await build({
    entryPoints: [entry],
    outfile: join(out, 'page.js'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'error',
  });
  for (const name of ['index.html', 'page.css']) copyFileSync(join(home, 'page', name), join(out, name));
}
