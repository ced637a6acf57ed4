/**
 * The runtime wraps what failed in where it failed; whoever starts a leader wants to know about the folder or the port. An error
 * that names the exit code of the process says more than what is behind it.
 */
export function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && !namesExitCode(root) && root.cause instanceof Error) root = root.cause;
  return root;
}

function namesExitCode(error: Error): boolean {
  return 'exitCode' in error && typeof error.exitCode === 'number';
}
