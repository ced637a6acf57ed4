import type { HandledJob } from '../handlers/handler.js';

/** Ends the value that `load` made: by `unload`, or by its own dispose method. */
export function unloadValue({ unload }: Pick<HandledJob, 'unload'>, loaded: unknown): unknown {
  if (unload !== undefined) return unload(loaded);
  if ((typeof loaded !== 'object' && typeof loaded !== 'function') || loaded === null) return undefined;
  const disposable = loaded as Partial<AsyncDisposable & Disposable>;
  return disposable[Symbol.asyncDispose]?.() ?? disposable[Symbol.dispose]?.();
}
