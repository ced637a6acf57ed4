export { ExitCode, type ExitNumber } from './exit-code.js';
export type { Terminal } from './output/terminal.js';
export { runTroupe } from './program.js';
