import { execFile } from 'node:child_process';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The sources of a peer in another language, and the way to compile them. */
export interface ForeignSources {
  /** Of the folder below `bench`. */
  readonly name: string;
  /** Compiles the sources in `from` into the folder `into`. */
  compile(from: string, into: string, run: RunCompiler): Promise<unknown>;
}

export type RunCompiler = (
  file: string,
  args: readonly string[],
  options?: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
) => Promise<unknown>;

const compiled = new Map<string, Promise<string>>();

/** The folder of the compiled program: compiled once per version of its sources, into a folder for that version. */
export function compiledFolder(sources: ForeignSources): Promise<string> {
  const known = compiled.get(sources.name) ?? compile(sources);
  compiled.set(sources.name, known);
  return known;
}

async function compile({ name, compile: compileSources }: ForeignSources): Promise<string> {
  const from = fileURLToPath(new URL(`../../${name}/`, import.meta.url));
  const files = await readdir(from, { recursive: true });
  const times = await Promise.all(files.map(async (file) => (await stat(join(from, file))).mtimeMs));
  const stamp = Math.round(Math.max(...times));
  const into = join(tmpdir(), `troupe-bench-${name}-${process.getuid?.() ?? 0}-${stamp}`);
  await mkdir(into, { recursive: true });
  await compileSources(from, into, (file, args, options) => run(file, args, options));
  return into;
}
