import type { Client, JobView, LeaderOverview } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TopLooks } from '#src/top/top-looks.js';
import { FIRST_STATE, type TopState } from '#src/top/top-state.js';

const looks = suite('looks of top at a leader');

const RUNNING = 2_500;
const OVERVIEW = {
  accepted: 0,
  counts: { queued: 0, running: RUNNING, done: 0, dead: 0, cancelled: 0 },
  workers: ['w10', 'w2', 'w1'].map((worker) => ({ worker })),
} as unknown as LeaderOverview; // no screen is drawn

/** Every thousandth job is of w2. */
function jobsBehind(after: number, max: number): JobView[] {
  const count = Math.max(0, Math.min(max, RUNNING - after));
  return Array.from({ length: count }, (_, i) => {
    const job = after + i + 1;
    return { job, worker: job % 1_000 === 0 ? 'w2' : 'w1' } as JobView;
  });
}

function clientOf(overview: () => Promise<LeaderOverview>): Client {
  const part = {
    overview,
    idOf: String,
    list: (_state: string, { after = 0, max = 100 }: { after?: number; max?: number }) =>
      Promise.resolve(jobsBehind(after, max)),
  };
  return part as unknown as Client; // the calls of these views
}

/** Resolves with the ids in the list, or with the error that ends the screen. */
function looked(client: Client, state: TopState): Promise<string[] | Error> {
  return new Promise((resolve) => {
    const one: TopLooks = new TopLooks(
      client,
      'here:1',
      () => resolve(one.figures.jobs.map(({ id }) => id)),
      resolve,
    );
    one.look(state);
  });
}

looks('the jobs of a worker are found among many others', async () => {
  const state: TopState = { ...FIRST_STATE, view: 'jobs', of: { worker: 'w2' } };
  assert.equal(
    await looked(
      clientOf(() => Promise.resolve(OVERVIEW)),
      state,
    ),
    ['1000', '2000'],
  );
});

looks('the workers stand in the order of their names in every look', async () => {
  const names = new Promise<readonly string[]>((resolve) => {
    const client = clientOf(() => Promise.resolve(OVERVIEW));
    const state: TopState = { ...FIRST_STATE, view: 'workers' };
    const one: TopLooks = new TopLooks(
      client,
      'here:1',
      () => resolve(one.rowsOf(state).names ?? []),
      () => resolve([]),
    );
    one.look(state);
  });
  assert.equal(await names, ['w1', 'w2', 'w10']);
});

looks('a refusal ends the screen; a leader that does not answer is away', async () => {
  const failing = (code: string): Client =>
    clientOf(() => Promise.reject(Object.assign(new Error(code), { code })));
  const refused = await looked(failing('ERR_FORBIDDEN'), FIRST_STATE);
  assert.is(refused instanceof Error && refused.message, 'ERR_FORBIDDEN');
  assert.equal(await looked(failing('ERR_CALL_WAIT'), FIRST_STATE), []);
});

looks.run();
