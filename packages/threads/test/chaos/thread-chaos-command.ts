// npm run thread-chaos -- --minutes 0.5 --seeds 3 --from 1: each seed for so many minutes; prints a line for each.

import { parseArgs } from 'node:util';
import { runThreadChaos } from './thread-chaos.js';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '0.5' },
    seeds: { type: 'string', default: '1' },
    from: { type: 'string', default: '1' },
  },
});
const [minutes, seeds, from] = [values.minutes, values.seeds, values.from].map(Number) as [
  number,
  number,
  number,
];
for (let seed = from; seed < from + seeds; seed += 1)
  console.log(JSON.stringify({ seed, ...(await runThreadChaos(60 * minutes, seed)) }));
