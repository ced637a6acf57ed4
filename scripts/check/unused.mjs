// Unused exports, files and dependencies, found by knip.
import { tool } from '../command.mjs';

/** knip's own floor; Troupe's is lower. */
const nodeMin = [20, 19];

/** Why knip cannot run on this Node, or undefined. */
export function unusedSkipReason() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = nodeMin;
  if (major > majorMin || (major === majorMin && minor >= minorMin)) return undefined;
  return `knip needs Node ${nodeMin.join('.')} or newer; this is ${process.versions.node}`;
}

export function checkUnused() {
  return tool('knip', ['--no-progress', '--no-config-hints']);
}
