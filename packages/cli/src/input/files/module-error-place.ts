import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PLACE = /(file:\/\/\/\S+?):(\d+)(?=[:)\s]|$)/m;
const PARSED_WITHIN_MS = 5_000;

/**
 * File and line of an error by which a module was not loaded. Node keeps the place of a syntax error to
 * itself until it prints the error: another process prints it. Nothing runs there, as no module of such a
 * program can be linked.
 */
export function moduleErrorPlace(href: string, { stack = '' }: Error): string | undefined {
  if (!stack.includes('compileSourceTextModule')) return placeIn(stack);
  const program = ['--input-type=module', '--eval', `import ${JSON.stringify(href)}`];
  const { stderr } = spawnSync(process.execPath, program, { encoding: 'utf8', timeout: PARSED_WITHIN_MS });
  return placeIn(stderr);
}

function placeIn(text: string): string | undefined {
  const [, url, line] = PLACE.exec(text) ?? [];
  return url === undefined ? undefined : `${fileURLToPath(url)}:${line}`;
}
