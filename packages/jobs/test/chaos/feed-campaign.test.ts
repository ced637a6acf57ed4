// timeout: 120s
// Leader, worker and client are killed with kill -9 while jobs are fed. `npm run chaos -- --rounds 50 --kills` is the
// same with more rounds.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { ChaosCampaign, KILLS } from './chaos-campaign.js';

const kills = suite('feed campaign');
const SEED = Date.now() % 1_000_000;
const ROUNDS = ['kill-leader', 'kill-worker', 'kill-feeder', 'kill-leader', 'kill-worker'] as const;

kills(
  `kill -9 loses no accepted item, and each reaches the runner that finishes once and in order (seed ${SEED})`,
  async () => {
    await using folder = await tempFolder();
    const dir = `${folder.path}/log`;
    await using campaign = await ChaosCampaign.start({ seed: SEED, faults: KILLS, dir });
    for (const fault of ROUNDS) await campaign.round(fault);
    const { problems, fedItems, fedJobs } = await campaign.finish();
    assert.equal(problems, []);
    assert.ok(
      fedItems >= ROUNDS.length && fedJobs > 0,
      `${fedItems} items accepted, ${fedJobs} fed jobs done`,
    );
  },
);

kills.run();
