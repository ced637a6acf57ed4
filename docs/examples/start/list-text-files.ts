import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const SKIPPED = /^(node_modules|dist|state|\..*)$/;
const TEXT = /\.(ts|mts|mjs|js|json|md|py|yaml|yml|erl)$/;

/** The text files of the repository, without generated ones. */
export async function listTextFiles(root: string, below = ''): Promise<string[]> {
  const entries = await readdir(join(root, below), { withFileTypes: true });
  const found = await Promise.all(
    entries.map((entry) => {
      const path = join(below, entry.name);
      if (SKIPPED.test(entry.name)) return [];
      if (entry.isDirectory()) return listTextFiles(root, path);
      return entry.isFile() && TEXT.test(entry.name) ? [path] : [];
    }),
  );
  return found.flat();
}
