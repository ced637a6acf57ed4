// timeout: 240s
// Leader, workers and clients are killed with kill -9 at random. Afterwards the log on the disk must hold every submit
// that any client has a receipt for. `npm run chaos -- --kills --rounds 50` is the same with more rounds.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { ChaosCampaign, KILLS } from './chaos-campaign.js';

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

kills.run();
