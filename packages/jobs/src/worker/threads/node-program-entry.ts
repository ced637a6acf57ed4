import { pathToFileURL } from 'node:url';

/** Whether the module is the file that this process was started with. */
export function isProgramEntry(module: URL): boolean {
  const entry = process.argv[1];
  return entry !== undefined && module.href === pathToFileURL(entry).href;
}
