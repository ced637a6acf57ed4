import { type Client, connectClient, type JobsError, startLeader } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tempFolder } from '../temp-folder.js';
import { Echo } from './sample-jobs.js';

const closing = suite('client close');

closing('closed clients make room for new producers; beyond the limit a submit is refused', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({
    dir: folder.path,
    limits: { producersMax: 1 },
    onFatal: (error) => {
      throw error;
    },
  });
  const { address } = leader;
  for (let i = 0; i < 3; i += 1) {
    await using closed = await connectClient({ address });
    await submitWhenRoom(closed, i);
  }
  await using open = await connectClient({ address });
  await submitWhenRoom(open, 3);
  await using late = await connectClient({ address });
  assert.is((await late.overview()).counts.queued, 4);
  assert.is(await late.submit(Echo, 4).then(() => 'accepted', codeOf), 'ERR_PRODUCERS_FULL');
});

/** The close message of the client before may still be on its way. */
async function submitWhenRoom(client: Client, input: number): Promise<void> {
  for (let accepted = false; !accepted; )
    accepted = await client.submit(Echo, input).then(() => true, refused);
}

function codeOf(error: JobsError): string {
  return error.code;
}

function refused(error: JobsError): boolean {
  if (error.code !== 'ERR_PRODUCERS_FULL') throw error;
  return false;
}

closing.run();
