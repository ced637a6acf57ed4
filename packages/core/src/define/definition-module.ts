/** Frames of a stack that are looked at. */
const FRAMES_MAX = 12;

/** The folders of core in which definitions are made. */
const OWN_FRAME = /[\\/]core[\\/](?:dist|src)[\\/](?:define|adapt)[\\/]/;
const LOCATION = /(?:\(|at )((?:file:|\/|[A-Za-z]:\\)[^()]*?):\d+:\d+\)?$/;

/**
 * The module of a definition: the given one, or that of the code which calls `defineActor`. The stack is
 * taken now and read when a thread needs it.
 */
export function moduleOf(given: string | undefined): () => string | undefined {
  if (given !== undefined) return () => given;
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES_MAX;
  const here: { stack?: string } = {};
  Error.captureStackTrace(here, moduleOf);
  Error.stackTraceLimit = limit;
  let found: string | undefined;
  let isRead = false;
  return () => {
    if (!isRead) found = callerIn(filesOf(here));
    isRead = true;
    return found;
  };
}

/**
 * The files of the frames, as they are loaded: the text of a stack names the sources where source maps are
 * on. A stack that was formatted already is text.
 */
function filesOf(here: { readonly stack?: unknown }): readonly string[] {
  const format = Error.prepareStackTrace;
  Error.prepareStackTrace = (_error, frames) => frames.map((frame) => frame.getFileName());
  const { stack } = here;
  Error.prepareStackTrace = format;
  const files = Array.isArray(stack) ? stack : textOf(stack).map((line) => LOCATION.exec(line)?.[1]);
  return files.filter((file): file is string => typeof file === 'string' && !file.startsWith('node:'));
}

function textOf(stack: unknown): readonly string[] {
  return typeof stack === 'string' ? stack.split('\n').map((line) => line.trimEnd()) : [];
}

/** In a bundle all frames are in one file, and that is the module. */
function callerIn(files: readonly string[]): string | undefined {
  return files.find((file) => !OWN_FRAME.test(file)) ?? files[0];
}
