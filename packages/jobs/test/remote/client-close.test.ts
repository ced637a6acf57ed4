import type { Client, JobsError } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader } from '../checked-processes.js';
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

closing(
  'calls that are made while the leader is away end at their limit, and reach the next one',
  async () => {
    await using folder = await tempFolder();
    const options = {
      dir: folder.path,
      onFatal: (error: Error) => {
        throw error;
      },
    };
    const first = await startLeader(options);
    const { address } = first;
    await using client = await connectClient({ address });
    const job = await client.submit(Echo, 1);
    await first.close();
    const limit = { withinMs: 50 };
    const calls = [
      client.overview(limit),
      client.list('queued', limit),
      client.redrive([job.id], limit),
      client.purge([job.id], limit),
      job.inspect(limit),
      job.cancel('late', limit),
    ];
    const codes = await Promise.all(calls.map((call) => call.then(() => 'answered', codeOf)));
    assert.equal([...new Set(codes)], ['ERR_CALL_WAIT']);
    const waiting = client.overview({ withinMs: 60_000 });
    await using _next = await startLeader({ ...options, address });
    assert.is((await waiting).counts.queued, 1);
  },
);

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
