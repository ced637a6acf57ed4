import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defineJob } from '#src/job/definition/define-job.js';
import { JobDefinitionError } from '#src/jobs-error.js';
import type { QueueView } from '#src/protocol/client/admin-messages.js';
import { anything } from '../plain-schema.js';
import { ClientRig } from './client-rig.js';

const clients = suite('client');
const job = defineJob('some.job', { input: anything, output: anything });
const queue = {} as QueueView;

/** The principals of the calls that were written since the last look; each call is answered. */
function principalsOf(rig: ClientRig): (string | undefined)[] {
  const calls = rig.sent.splice(0).filter((message) => message.kind === 'call');
  for (const { call } of calls) rig.fromLeader({ kind: 'answer', call, answer: { kind: 'queue', queue } });
  return calls.map(({ request }) => request.principal);
}

clients(
  'calls of a client that acts for a principal have its name, also when they are repeated',
  async () => {
    const rig = new ClientRig();
    rig.welcome();
    const acting = rig.client.actingFor('eve');
    const paused = [acting.queue('*').pause(), rig.client.queue('*').pause()];
    await Promise.resolve();
    rig.sent.splice(0);
    rig.welcome();
    assert.equal(principalsOf(rig), ['eve', undefined]);
    await Promise.all(paused);
    const cancelled = acting.open(job, 'tag-1').cancel();
    await Promise.resolve();
    const [call] = rig.sent.splice(0);
    assert.equal(call?.kind === 'call' && call.request, {
      kind: 'cancel',
      job: 1,
      reason: '',
      principal: 'eve',
    });
    rig.fromLeader({ kind: 'answer', call: 3, answer: { kind: 'cancelled', state: 'cancelled' } });
    assert.is(await cancelled, 'cancelled');
  },
);

clients('a client that acts for a principal submits as the client itself, with its definitions', async () => {
  const rig = new ClientRig();
  rig.welcome();
  void rig.client.submit(job, 1);
  void rig.client.actingFor('eve').submit(job, 2);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(
    rig.sent.map((one) => (one.kind === 'submit' ? one.items.map(({ seq, ref }) => [seq, ref]) : one.kind)),
    [
      'define',
      [
        [1, 1],
        [2, 1],
      ],
    ],
  );
});

clients('a principal is a plain name', () => {
  for (const name of ['', 'a b', 'x'.repeat(129), 7 as unknown as string])
    assert.throws(
      () => new ClientRig().client.actingFor(name),
      (error: Error) => error instanceof JobDefinitionError,
    );
});

clients.run();
