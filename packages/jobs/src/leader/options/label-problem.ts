/** Why jobs may not require these labels; undefined: they may. `known`: all labels; undefined: any. */
export function labelProblem(
  known: readonly string[] | undefined,
  requires: readonly string[] | undefined,
): string | undefined {
  const unknown = known === undefined ? undefined : requires?.find((label) => !known.includes(label));
  if (unknown === undefined) return undefined;
  return `label '${unknown}' is unknown, its labels are ${known?.join(', ') || 'none'}`;
}
