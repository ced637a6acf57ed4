import { nodeHost } from '@troupe/core';
import { defineJob, type JobsError } from '@troupe/jobs';
import { IdentityStore } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { ClientRig } from '../client/client-rig.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';
import { sampleHandlers } from './sample-jobs.js';

const refusals = suite('refusals');

const one = defineJob('one.job', { input: anything, output: anything });
const two = defineJob('two.job', { input: anything, output: anything });

const fatal = (error: Error): void => assert.unreachable(error.message);

async function reasonOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: JobsError) => `${error.code}: ${error.message}`,
  );
}

refusals('a refused connect rejects with the reason of the leader', async () => {
  await using folder = await tempFolder();
  // The name of the identity precedes the claimed name; together they are too long.
  const subject = 's'.repeat(60);
  const identities = new IdentityStore([
    { name: subject, keys: [{ id: 'k', key: 'a'.repeat(64) }], submit: ['>'], work: ['>'] },
  ]);
  await using leader = await startLeader({
    dir: folder.path,
    auth: { kind: 'hmac', identities },
    onFatal: fatal,
  });
  const dial = {
    address: leader.address,
    auth: { kind: 'hmac', keyId: 'k', key: 'a'.repeat(64) },
    name: 'n'.repeat(90),
  } as const;
  assert.is(
    await reasonOf(connectClient(dial)),
    'ERR_SESSION_MALFORMED: session refused: client name and token must be 1 to 128 plain characters',
  );
  assert.is(
    await reasonOf(startWorker({ ...dial, handlers: sampleHandlers('w', () => undefined) })),
    'ERR_SESSION_MALFORMED: session refused: worker and incarnation must be plain names',
  );
});

refusals('a call that the leader does not know rejects at once with ERR_CALL_UNSUPPORTED', async () => {
  const rig = new ClientRig();
  const asked = reasonOf(rig.client.overview());
  await new Promise((resolve) => setImmediate(resolve));
  rig.fromLeader({ kind: 'welcome', tag: 'abcde', outstandingMax: 5, payloadBytesMax: 6 });
  await new Promise((resolve) => setImmediate(resolve));
  rig.fromLeader({ kind: 'answer', call: 1, answer: { kind: 'unsupported', problem: 'unknown kind' } });
  assert.is(
    await asked,
    'ERR_CALL_UNSUPPORTED: overview: not supported by this leader: unknown kind; update the leader',
  );
});

refusals('a client whose session is refused rejects all calls with the reason', async () => {
  const rig = new ClientRig();
  const { client } = rig;
  const asked = [client.submit(one, 1), client.run(one, 1), client.submitAll(one, [1]), client.overview()];
  const waiting = asked.map(reasonOf);
  await new Promise((resolve) => setImmediate(resolve));
  rig.fromLeader({ kind: 'refused', code: 'ERR_SESSION_MALFORMED', problem: 'of its hat' });
  const later = [client.submit(one, 2), client.list('queued')].map(reasonOf);
  for (const reason of await Promise.all([...waiting, ...later]))
    assert.is(reason, 'ERR_SESSION_MALFORMED: session refused: of its hat');
});

refusals('a leader without room for a definition refuses its submits only, until there is room', async () => {
  await using folder = await tempFolder();
  await using leader = await startLeader({ dir: folder.path, limits: { policiesMax: 1 }, onFatal: fatal });
  const { address } = leader;
  const first = await connectClient({ address });
  await first.submit(one, 1).then((handle) => handle.cancel());
  await using second = await connectClient({ address });
  assert.is(
    await reasonOf(second.submit(two, 2)),
    'ERR_POLICIES_FULL: submit refused: no room for another job definition',
  );
  assert.is(await reasonOf(second.submit(one, 2, { key: 'fits' })), 'no error');
  assert.is(
    await reasonOf(second.submit(two, 2)),
    'ERR_POLICIES_FULL: submit refused: no room for another job definition',
  );
  first.close();
});

refusals('a refused definition is repeated with the next submit', () => {
  const due: (() => void)[] = [];
  const rig = new ClientRig({ ...nodeHost, soon: (run) => void due.push(run) });
  const { client, sent } = rig;
  rig.welcome(9);
  const refusal = { code: 'ERR_POLICIES_FULL', problem: 'full', retryAfterMs: 1 } as const;
  const submit = (): void => {
    client.submit(one, 1).catch(() => undefined);
    for (const run of due.splice(0)) run();
  };
  submit();
  submit();
  rig.fromLeader({
    kind: 'receipts',
    items: [1, 2].map((seq) => ({ seq, jobs: [], lsn: 0, duplicate: false, refusal })),
  });
  submit();
  submit();
  assert.equal(
    sent.map(({ kind }) => kind),
    ['define', 'submit', 'submit', 'define', 'submit', 'submit'],
  );
});

refusals.run();
