import { JobDefinitionError } from '../../jobs-error.js';
import { type HandledJob, isHandledJob } from '../handlers/handler.js';

/** Every export of a module that was made by `handle`, alone or in arrays. No peer chooses what is loaded. */
export function exportedHandlers(
  module: string,
  exported: Readonly<Record<string, unknown>>,
): readonly HandledJob[] {
  const found = Object.values(exported).flat().filter(isHandledJob);
  if (found.length > 0) return [...new Set(found)];
  throw new JobDefinitionError(`module ${module}`, 'exports no handler; export handle(job, run)');
}
