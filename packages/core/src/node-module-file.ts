import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** A module that is started by its address, not imported: the first module of a thread, for example. */
export interface ModuleFile {
  /** From the module that names it: `./node-pool-thread-main.js`. */
  readonly path: string;
  /** `import.meta.url` of that module; undefined in a bundle of CommonJS. */
  readonly from: string | undefined;
  /** Its entry in the `exports` of its package. */
  readonly entry: string;
}

/**
 * The address of the file, or undefined. In an installed package it lies at its path. A bundle moves the
 * module that names it: then it is looked for by its name beside the bundle and beside the program, and in
 * the installed package by its entry. Path and address are separate here, so that no bundler takes them for
 * an asset to be copied: a copy would not find its own imports.
 */
export function findModuleFile({ path, from, entry }: ModuleFile): URL | undefined {
  const program = process.argv[1];
  const bases = [from, program && pathToFileURL(program).href].filter((base) => base !== undefined);
  const places = bases.flatMap((base) => [new URL(path, base), new URL(nameOf(path), base)]);
  const found = places.find((place) => place.protocol === 'file:' && existsSync(fileURLToPath(place)));
  if (found !== undefined) return found;
  for (const base of bases) {
    const file = installed(entry, base);
    if (file !== undefined) return file;
  }
  return undefined;
}

function installed(entry: string, from: string): URL | undefined {
  try {
    return pathToFileURL(createRequire(from).resolve(entry));
  } catch {
    // Not installed there: the caller names the file that is missing.
    return undefined;
  }
}

/** The remedy where there is no such file, as a clause. */
export function moduleFileRemedy({ path, entry }: ModuleFile): string {
  return `a bundle needs ${entry} as an entry of its own, written to ${nameOf(path)} beside it`;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
