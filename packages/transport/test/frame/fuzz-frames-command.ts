// node fuzz-frames-command.js <seconds> <seed>: mutated frames through the decoders, in this process.
import { runMutations } from './frame-mutation.js';

const [seconds = '10', seed = '1'] = process.argv.slice(2);
const until = performance.now() + 1_000 * Number(seconds);
const report = runMutations(Number(seed), (inputs) => inputs % 1_000 === 0 && performance.now() >= until);
console.log(`decoders: ${JSON.stringify(report)}`);
