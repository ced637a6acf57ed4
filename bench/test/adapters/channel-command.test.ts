// timeout: 180s, needs: go tokio
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { channelSystems, missingChannelSystem } from '#src/adapters/channel-command.js';
import { runProcess } from '#src/runner/run-process.js';
import { suite as core } from '#src/suites/core.suite.js';

const channels = suite('peers with channels');

for (const system of channelSystems)
  for (const benchmark of core.cases.filter(({ systems }) => systems.includes(system)))
    channels(`${system} completes ${benchmark.benchmark}`, async () => {
      assert.is(missingChannelSystem(system), undefined);
      const planned = { case: benchmark, system, round: 0 };
      const { samples } = await runProcess(planned, { suite: 'core', scale: 0.002, adapters: {} });
      assert.ok(samples.length > 0);
      for (const { attempted, completed } of samples) {
        assert.ok(attempted > 0);
        assert.is(completed, attempted);
      }
    });

channels('a system that is no channel is not missing here', () => {
  assert.is(missingChannelSystem('nact'), undefined);
});

channels.run();
