import { type Client, connectClient, type JobsError, startLeader } from '@troupe/jobs';
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
      await submitWhenRoom(visitor, i);
    }
    await using resident = await connectClient({ address });
    await submitWhenRoom(resident, 3);
    await using late = await connectClient({ address });
    assert.is((await late.overview()).counts.queued, 4);
    assert.is(await late.submit(Echo, 4).then(() => 'taken', codeOf), 'ERR_PRODUCERS_FULL');
  },
);

/** The goodbye of the one before may still be on its way. */
async function submitWhenRoom(client: Client, input: number): Promise<void> {
  for (let taken = false; !taken; ) taken = await client.submit(Echo, input).then(() => true, refused);
}

function codeOf(error: JobsError): string {
  return error.code;
}

function refused(error: JobsError): boolean {
  if (error.code !== 'ERR_PRODUCERS_FULL') throw error;
  return false;
}

goodbyes.run();
