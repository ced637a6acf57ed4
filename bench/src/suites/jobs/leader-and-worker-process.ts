// Troupe's leader and workers as the processes they are in production: `leader <dir>` or `worker <port> <how many> <slots>`.
import { nodeHost } from '@troupe/core';
import { handle, startLeader, startWorker } from '@troupe/jobs';
import { digest } from './job-definitions.js';
import { resultOf } from './payload.js';

const [role, ...rest] = process.argv.slice(2);

process.once('disconnect', () => process.exit(0));

if (role === 'leader') {
  const leader = await startLeader({
    dir: rest[0] ?? '',
    limits: { payloadBytesMax: 11 * 1024 * 1024 },
    onFatal: (error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(74);
    },
  });
  process.send?.('port' in leader.address ? leader.address.port : 0);
} else {
  const [port, count, slots] = rest.map(Number);
  for (let i = 0; i < (count ?? 1); i += 1) {
    await startWorker({
      address: { port: port ?? 0 },
      name: `bench-${i}`,
      slots: slots ?? 1,
      bytesMax: 2 ** 30,
      cpuCap: 1,
      // A thousand workers in one process hold each other up: each would warn of it, and have a second connection for its pulse.
      ...((count ?? 1) > 1 ? { host: { ...nodeHost, log: () => undefined } } : {}),
      handlers: [handle(digest, resultOf)],
    });
  }
  process.send?.('ready');
}
