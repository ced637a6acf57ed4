import { cpus, release, totalmem, type } from 'node:os';

/** One line that says where figures come from. Absolute figures mean nothing without it. */
export function machineLine(): string {
  const processors = cpus();
  const model = (processors[0]?.model ?? 'unknown processor').replaceAll(/\s+/g, ' ').trim();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${model}, ${processors.length} cores, ${memory}, ${type()} ${release()}, Node ${process.versions.node}`;
}
