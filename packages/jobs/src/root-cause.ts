/**
 * The error at the bottom of a chain of causes, for the caller that starts a leader: it names the folder or
 * the port, where the errors of the runtime name an actor. The chain ends earlier at an error with an exit
 * code for the process.
 */
export function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && !hasExitCode(root) && root.cause instanceof Error) root = root.cause;
  return root;
}

function hasExitCode(error: Error): boolean {
  return 'exitCode' in error && typeof error.exitCode === 'number';
}
