// timeout: 120s
// Leader, workers and readers are killed with kill -9 in mid-stream. `npm run chaos -- --streams --rounds 50` is the same
// with more rounds.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { StreamCampaign } from './stream-campaign.js';

const kills = suite('kills in mid-stream');
const SEED = Date.now() % 1_000_000;

kills(
  `no reader sees a gap that was not announced, a duplicate or a stale chunk, and a durable stream has no gap (seed ${SEED})`,
  async () => {
    await using folder = await tempFolder();
    await using campaign = await StreamCampaign.start({ seed: SEED, dir: `${folder.path}/log` });
    for (const kill of ['kill-worker', 'kill-leader', 'kill-client'] as const) await campaign.round(kill);
    for (let round = 0; round < 2; round += 1) await campaign.round();
    const { problems, streams, resumed } = await campaign.finish();
    assert.equal(problems, []);
    assert.ok(
      streams > 5 && resumed > 0,
      `${streams} streams, ${resumed} of them read on by another process`,
    );
  },
);

kills.run();
