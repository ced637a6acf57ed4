// Troupe's leader and workers as separate processes, as in production. Arguments: `leader <dir> <codec> [traced]`
// or `worker <ports> <count> <slots> [traced]`.
import { nodeHost } from '@troupe/core';
import { handle, startLeader, startWorker } from '@troupe/jobs';
import { digest } from './job-definitions.js';
import { resultOf } from './payload.js';
import { type Traced, tracedSides } from './traced-jobs.js';

const [role, ...rest] = process.argv.slice(2);

process.once('disconnect', () => process.exit(0));

// The last argument; empty without traces.
const sides = tracedSides(rest.at(-1) as Traced);

if (role === 'leader') {
  const leader = await startLeader({
    dir: rest[0] ?? '',
    wal: { codec: rest[1] === 'jsonl' ? 'jsonl' : 'binary' },
    limits: { payloadBytesMax: 11 * 1024 * 1024 },
    ...sides.leader,
    onFatal: (error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(74);
    },
  });
  process.send?.('port' in leader.address ? leader.address.port : 0);
} else {
  const [ports = '', ...counts] = rest;
  const [count, slots] = counts.map(Number);
  for (let i = 0; i < (count ?? 1); i += 1) {
    await startWorker({
      address: ports.split(',').map((port) => ({ port: Number(port) })),
      name: `bench-${i}`,
      slots: slots ?? 1,
      bytesMax: 2 ** 30,
      cpuCap: 1,
      // A thousand workers in one process delay each other: no warnings, and no heartbeat thread (custom
      // host).
      host: (count ?? 1) > 1 ? { ...nodeHost, log: () => undefined } : undefined,
      handlers: [handle(digest, resultOf)],
      ...sides.worker,
    });
  }
  process.send?.('ready');
}
