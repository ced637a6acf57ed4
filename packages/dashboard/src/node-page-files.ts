import { readFileSync } from 'node:fs';

const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
};

/** The files of the page by path, as the build has bundled them. */
export function pageFiles(): ReadonlyMap<string, () => Response> {
  const files = new Map<string, () => Response>();
  for (const [name, type] of Object.entries(TYPES)) {
    const bytes = readFileSync(new URL(`./page/${name}`, import.meta.url));
    const headers = { 'content-type': type, 'cache-control': 'no-cache' };
    files.set(name === 'index.html' ? '/' : `/${name}`, () => new Response(bytes, { headers }));
  }
  return files;
}
