// npm run thread-chaos -- --seconds 30 --seed 1

import { parseArgs } from 'node:util';
import { runThreadChaos } from './thread-chaos.js';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '30' }, seed: { type: 'string', default: '1' } },
});
console.log(JSON.stringify(await runThreadChaos(Number(values.seconds), Number(values.seed)), null, 2));
