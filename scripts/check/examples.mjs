// Every example and every runnable snippet, each as a process that must end by itself with exit code 0.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filesBelow, root } from '../workspace.mjs';
import { runLimited } from './limited.mjs';
import { snippetFolder } from './snippets.mjs';
import { directivesOf } from './unit.mjs';

const folder = 'docs/examples';

/** @returns {{ name: string, source: string, script: string }[]} */
export function examples() {
  const names = filesBelow(join(root, folder)).filter((file) => /^[^/.][^/]*\.ts$/.test(file));
  const snippets = filesBelow(join(root, snippetFolder)).filter((file) => file.endsWith('.ts'));
  return [
    ...names.map((file) => example(`${folder}/${file}`, `${folder}/.test/${file}`)),
    ...snippets.map((file) => {
      const { source, script } = example(`${snippetFolder}/${file}`, `${folder}/.test/.snippets/${file}`);
      return {
        name: /^\/\/ (.*)/.exec(source)?.[1] ?? file,
        source: source.slice(source.indexOf('\n') + 1),
        script,
      };
    }),
  ];
}

/** @param {string} name @param {string} output */
function example(name, output) {
  return { name, source: readFileSync(join(root, name), 'utf8'), script: output.replace(/\.ts$/, '.js') };
}

/** @param {ReturnType<typeof examples>[number]} example @param {number} timeoutMs of one that asks for nothing else */
export async function runExample({ source, script }, timeoutMs) {
  if (!existsSync(join(root, script))) return { code: 1, seconds: 0, output: `${script} was not built\n` };
  const limitMs = directivesOf(source).timeoutMs ?? timeoutMs;
  const { code, output, timedOut, seconds } = await runLimited(process.execPath, [script], {
    cwd: root,
    timeoutMs: limitMs,
  });
  if (timedOut) return { code: 1, seconds, output: `${output}\nnot finished after ${limitMs / 1000} s\n` };
  return { code: code ?? 1, seconds, output: code === 0 ? output : `${output}\nexit code ${code}\n` };
}
