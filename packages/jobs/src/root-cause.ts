/** The runtime wraps what failed in where it failed; whoever starts a leader wants to know about the folder or the port. */
export function rootCause(error: unknown): unknown {
  let root = error;
  while (root instanceof Error && root.cause instanceof Error) root = root.cause;
  return root;
}
