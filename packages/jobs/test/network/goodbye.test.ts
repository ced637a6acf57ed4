import { connectClient, type JobsError, startLeader } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { stateFolder } from './role.js';
import { Echo } from './trial-jobs.js';

const goodbyes = suite('goodbye');

goodbyes(
  'visits that submit and close leave room; one that stays is named in the refusal of the next',
  async () => {
    await using folder = await stateFolder();
    await using leader = await startLeader({
      dir: folder.dir,
      limits: { producersMax: 1 },
      onFatal: (error) => {
        throw error;
      },
    });
    const { address } = leader;
    for (let i = 0; i < 3; i += 1) {
      await using visitor = await connectClient({ address });
      await visitor.submit(Echo, i);
    }
    await using resident = await connectClient({ address });
    // The last goodbye may still be on its way.
    for (let taken = false; !taken; ) taken = await resident.submit(Echo, 3).then(() => true, refused);
    await using late = await connectClient({ address });
    assert.is((await late.overview()).counts.queued, 4);
    assert.is(await late.submit(Echo, 4).then(() => 'taken', codeOf), 'ERR_PRODUCERS_FULL');
  },
);

function codeOf(error: JobsError): string {
  return error.code;
}

function refused(error: JobsError): boolean {
  if (error.code !== 'ERR_PRODUCERS_FULL') throw error;
  return false;
}

goodbyes.run();
