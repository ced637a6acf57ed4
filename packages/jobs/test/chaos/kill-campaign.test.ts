// timeout: 240s
// Leader, workers and clients are killed with kill -9 at random. Afterwards the log on the disk must hold every submit
// that any client has a receipt for. `npm run chaos -- --kills --rounds 50` is the same with more rounds.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { ChaosCampaign, type Fault, KILLS } from './chaos-campaign.js';
import { FakeClock } from './fake-clock.js';
import { pidNamespace } from './pid-namespace.js';

const kills = suite('kill campaign');
const ROUNDS = 5;
const SEED = Date.now() % 1_000_000;

kills(
  `kills lose no acknowledged submit, double none, and no job has two results (seed ${SEED})`,
  async () => {
    await using folder = await tempFolder();
    await using campaign = await ChaosCampaign.start({
      seed: SEED,
      faults: KILLS,
      dir: `${folder.path}/log`,
    });
    for (let round = 0; round < ROUNDS; round += 1) await campaign.round();
    const { problems, acknowledged, jobs } = await campaign.finish();
    assert.equal(problems, []);
    assert.ok(acknowledged >= ROUNDS && jobs >= acknowledged, `${acknowledged} of ${jobs} acknowledged`);
  },
);

kills('a stopped leader, a cut or forgetful network and a second leader lose nothing either', async () => {
  await using folder = await tempFolder();
  const faults = ['stop-leader', 'cut-network', 'lost-answers', 'second-leader'] as const;
  await using campaign = await ChaosCampaign.start({ seed: SEED, faults, dir: `${folder.path}/log` });
  for (const fault of faults) await campaign.round(fault);
  const { problems, acknowledged } = await campaign.finish();
  assert.equal(problems, []);
  assert.ok(acknowledged > 0);
});

kills(
  'a second leader in another pid namespace and steps of the wall clock lose nothing either',
  async () => {
    await using folder = await tempFolder();
    const found = { 'two-leaders': await pidNamespace(), 'clock-step': await FakeClock.start() };
    for (const [fault, { reason }] of Object.entries(found) as [string, { reason?: string }][])
      if (reason !== undefined) console.log(`skipped: ${fault} (${reason})`);
    const namespace = 'reason' in found['two-leaders'] ? undefined : found['two-leaders'];
    await using clock = 'reason' in found['clock-step'] ? undefined : found['clock-step'];
    const faults: Fault[] = ['kill-leader'];
    if (namespace !== undefined) faults.unshift('two-leaders');
    if (clock !== undefined) faults.unshift('clock-step');
    const dir = `${folder.path}/log`;
    await using campaign = await ChaosCampaign.start({ seed: SEED, faults, dir, clock, namespace });
    for (const fault of faults) await campaign.round(fault);
    const { problems, acknowledged } = await campaign.finish();
    assert.equal(problems, []);
    assert.ok(acknowledged > 0);
  },
);

kills.run();
