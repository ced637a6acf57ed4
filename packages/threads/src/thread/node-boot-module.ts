import { findModuleFile, type ModuleFile, moduleFileRemedy } from '@troupe/core/module-file';
import { ThreadStartError } from './thread-errors.js';

/** The file that a thread starts with. */
export function findBootModule(thread: string, file: ModuleFile): URL {
  const found = findModuleFile(file);
  if (found === undefined) throw new ThreadStartError(thread, new Error(moduleFileRemedy(file)));
  return found;
}
