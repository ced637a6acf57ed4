/** Codes of network and client library; SQLSTATEs of a server that starts, ends or is no primary. */
const TRANSIENT = /^(E[A-Z]+|CONNECT\w*|08\w{3}|53\w{3}|57P0\d|25006|25P03|40\w{3})$/;

/** The same statement may succeed later, perhaps at another host. */
export function isTransient(error: unknown): boolean {
  const { code = '' } = error as { code?: unknown };
  return typeof code === 'string' && TRANSIENT.test(code);
}
