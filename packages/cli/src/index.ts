export { ExitCode, type ExitNumber } from './exit-code.js';
export { runTroupe } from './program.js';
export type { Terminal } from './terminal.js';
