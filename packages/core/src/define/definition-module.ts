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
    if (!isRead) found = callerIn(here.stack ?? '');
    isRead = true;
    return found;
  };
}

/** In a bundle all frames are in one file, and that is the module. */
function callerIn(stack: string): string | undefined {
  const files = stack
    .split('\n')
    .map((line) => LOCATION.exec(line.trimEnd())?.[1])
    .filter((file) => file !== undefined);
  return files.find((file) => !OWN_FRAME.test(file)) ?? files[0];
}
