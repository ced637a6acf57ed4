// npm run fuzz -- --http [--minutes 1] [--seed 7]: mutated requests through the gateway, until the time is over or an answer
// is wrong.
import { parseArgs } from 'node:util';
import { dashboard } from '@troupe/dashboard';
import { GatewayRig } from '../gateway-rig.js';
import { fuzzRequests } from './request-fuzz.js';

const { values } = parseArgs({
  options: { http: { type: 'boolean' }, minutes: { type: 'string' }, seed: { type: 'string' } },
});
const ms = Number(values.minutes ?? '1') * 60_000;
const seed = Number(values.seed ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);
await using rig = await GatewayRig.start();
const ids = [await rig.submit('sample.echo', 1), await rig.submit('later.job', 1, '?runAfter=1h')];
const until = performance.now() + ms;
const gateway = dashboard({ client: rig.client });
const report = await fuzzRequests(gateway, seed, ids, () => performance.now() >= until);
console.log(`requests: ${JSON.stringify(report)}`);
