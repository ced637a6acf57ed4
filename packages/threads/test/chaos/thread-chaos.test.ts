// timeout: 180s, alone
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runThreadChaos } from './thread-chaos.js';

const chaos = suite('chaos of tasks and actors');

chaos(
  'tasks and actors that throw, hang, exit and allocate: every task and message is accounted for',
  async () => {
    const { sent, asks, tasks } = await runThreadChaos(30, 2_026);
    assert.ok(sent > 3_000, `${sent}`);
    for (const code of ['ok', 'ERR_ACTOR_FAILED', 'ERR_THREAD_ENDED', 'ERR_THREAD_BLOCKED'])
      assert.ok((asks[code] ?? 0) > 0, code);
    for (const code of ['ok', 'ERR_TASK_FAILED', 'ERR_TASK_TIMEOUT', 'ERR_THREAD_ENDED'])
      assert.ok((tasks[code] ?? 0) > 0, code);
  },
);

chaos.run();
