// timeout: 120s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCampaign } from './wait-histories/history-campaign.js';

const histories = suite('wait histories');

const SEEDS = 2_000;

histories(
  'in every history each message is accounted for, and no actor is left muted or waiting',
  async () => {
    const { failure, ...total } = await runCampaign(Array.from({ length: SEEDS }, (_, i) => i + 1));
    assert.is(failure, undefined, failure);
    process.stdout.write(`${JSON.stringify(total)}\n`);
    assert.ok(total.messages > 10 * SEEDS && total.mutes > SEEDS / 4, 'too little pressure to be meaningful');
  },
);

histories.run();
