import { cpus, release, totalmem, type } from 'node:os';

/** Processor, cores, memory, operating system and Node version in one line: absolute numbers need it. */
export function describeMachine(): string {
  const processors = cpus();
  const model = (processors[0]?.model ?? 'unknown processor').replaceAll(/\s+/g, ' ').trim();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${model}, ${processors.length} cores, ${memory}, ${type()} ${release()}, Node ${process.versions.node}`;
}
