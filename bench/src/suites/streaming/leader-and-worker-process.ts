// Troupe's leader and worker as separate processes. Arguments: `leader <dir>` or `worker <port> <slots>`.
import { startLeader, startWorker } from '@troupe/jobs';
import { streamHandlers } from './stream-handlers.js';

const [role, ...rest] = process.argv.slice(2);

process.once('disconnect', () => process.exit(0));

if (role === 'leader') {
  const leader = await startLeader({
    dir: rest[0] ?? '',
    onFatal: (error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(74);
    },
  });
  process.send?.('port' in leader.address ? leader.address.port : 0);
} else {
  const [port = 0, slots = 1] = rest.map(Number);
  const handlers = [...streamHandlers()];
  await startWorker({ address: { port }, name: 'bench', slots, bytesMax: 2 ** 30, cpuCap: 1, handlers });
  process.send?.('ready');
}
