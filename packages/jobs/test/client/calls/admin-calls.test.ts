import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { AdminCalls } from '#src/client/calls/admin-calls.js';
import type { WaitOptions } from '#src/client/calls/wait-limit.js';
import type { AdminAnswer, AdminRequest } from '#src/protocol/client/admin-messages.js';
import { ManualTime } from '../../manual-time.js';
import { ClientRig } from '../client-rig.js';

const calls = suite('admin calls');

/** Admin calls of a client whose leader is the test. */
class CallsRig {
  readonly time = new ManualTime();
  private readonly rig = new ClientRig({ ...this.time.host, soon: (run) => run() });
  readonly calls = (this.rig.client as unknown as { admin: AdminCalls }).admin;

  constructor() {
    this.rig.welcome();
  }

  get requests(): { readonly call: number; readonly request: AdminRequest }[] {
    return this.rig.sent.filter((message) => message.kind === 'call');
  }

  answer(answer: AdminAnswer): void {
    this.rig.fromLeader({ kind: 'answer', call: this.requests.at(-1)?.call ?? 0, answer });
  }

  /** The connection was lost, and there is a new one. */
  reconnect(): void {
    this.rig.machine.disconnected();
    this.rig.welcome();
  }
}

const turns = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const EVERY: Readonly<Record<string, (calls: AdminCalls, wait: WaitOptions) => Promise<unknown>>> = {
  cancel: (all, wait) => all.cancel(1, 'why', wait),
  inspect: (all, wait) => all.inspect(1, wait),
  input: (all, wait) => all.input(1, 0, 10, wait),
  overview: (all, wait) => all.overview(wait),
  actors: (all, wait) => all.actors(wait),
  list: (all, wait) => all.list('dead', 0, 1, wait),
  redrive: (all, wait) => all.redriveOrPurge('redrive', [1], wait),
  purge: (all, wait) => all.redriveOrPurge('purge', [1], wait),
};

for (const [name, start] of Object.entries(EVERY)) {
  calls(
    `${name} rejects after its time limit, after 30 s without one, and with the reason of its signal`,
    async () => {
      for (const withinMs of [500, undefined]) {
        const rig = new CallsRig();
        const outcome = start(rig.calls, { withinMs }).catch((error: unknown) => error);
        rig.time.advance(withinMs ?? 30_000);
        assert.is(((await outcome) as { code?: string }).code, 'ERR_CALL_WAIT');
        rig.reconnect();
        assert.is(rig.requests.length, 1, 'an abandoned call is not repeated');
      }
      const rig = new CallsRig();
      const controller = new AbortController();
      const outcome = start(rig.calls, { signal: controller.signal }).catch((error: unknown) => error);
      controller.abort(new Error('enough'));
      assert.is(((await outcome) as Error).message, 'enough');
    },
  );
}

calls('a redrive names the deaths it means, so that it can be repeated', async () => {
  const rig = new CallsRig();
  const count = rig.calls.redriveOrPurge('redrive', [1, 2, 3], {});
  assert.equal(rig.requests.at(-1)?.request, { kind: 'dead-attempts', jobs: [1, 2, 3] });
  rig.answer({
    kind: 'dead-attempts',
    items: [
      { job: 1, attempt: 4 },
      { job: 3, attempt: 2 },
    ],
  });
  await turns();
  assert.equal(rig.requests.at(-1)?.request, { kind: 'redrive', jobs: [1, 3], attempts: [4, 2] });
  rig.reconnect();
  assert.equal(rig.requests.at(-1)?.request, { kind: 'redrive', jobs: [1, 3], attempts: [4, 2] });
  // Both were driven by the first request; its answer was lost.
  rig.answer({ kind: 'count', count: 0 });
  assert.is(await count, 2);
});

calls('the time limit of a redrive covers all of its requests', async () => {
  const rig = new CallsRig();
  const outcome = rig.calls
    .redriveOrPurge('redrive', [1], { withinMs: 1_000 })
    .catch((error: unknown) => error);
  rig.time.advance(600);
  rig.answer({ kind: 'dead-attempts', items: [{ job: 1, attempt: 1 }] });
  await turns();
  rig.time.advance(400);
  assert.is(((await outcome) as { code?: string }).code, 'ERR_CALL_WAIT');
});

calls.run();
