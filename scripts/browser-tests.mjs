// npm run browser-tests: the tests of the dashboard's page in Chromium, which is installed first where apt-get can.
//   npm run browser-tests -- --pictures folder   writes a picture of every page
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { node, run } from './command.mjs';

const { values } = parseArgs({ options: { pictures: { type: 'string' } } });
if (values.pictures !== undefined) process.env['TROUPE_PICTURES'] = resolve(values.pictures);

if (!existsSync('/usr/bin/chromium')) {
  console.log('installing chromium by apt-get ...');
  const steps = 'apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium';
  const { code, output } = await run('sh', ['-c', steps]);
  if (code !== 0) console.log(`chromium could not be installed: ${output.trim().split('\n').at(-1)}`);
}
const { code, output } = await node(['scripts/test.mjs', 'dashboard/test/page']);
console.log(output.trimEnd());
process.exitCode = code;
