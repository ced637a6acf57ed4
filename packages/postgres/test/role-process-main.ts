// One role in a process of its own. Prints its events as JSON lines; ends with its parent.
//   node role-process-main.js leader <url> <schema> <port> <name>
//   node role-process-main.js worker <ports>
import { defineJob, handle, startLeader, startWorker } from '@troupe/jobs';
import { postgresJournal } from '@troupe/postgres';
import { anything } from './plain-schema.js';

const [role, ...rest] = process.argv.slice(2);
const print = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`);
process.stdin.on('end', () => process.exit(0)).resume();

if (role === 'leader') {
  const [url = '', schema = '', port = '', leader = ''] = rest;
  const server = await startLeader({
    journal: postgresJournal({
      url,
      schema,
      leader,
      addresses: [`127.0.0.1:${port}`],
      standby: true,
      onStandby: ({ leader: of }) => print({ kind: 'standby', of }),
    }),
    address: { port: Number(port) },
    onFatal: (error) => {
      print({ kind: 'fatal', code: (error as { code?: string }).code, message: error.message });
      process.exit(75);
    },
  }).catch((error: Error & { code?: string }) => {
    print({ kind: 'failed', code: error.code, message: error.message });
    process.exit(69);
  });
  print({ kind: 'leading' });
  process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
} else {
  const [ports = ''] = rest;
  const Echo = defineJob('sample.echo', { input: anything, output: anything });
  const Wait = defineJob('sample.wait', { input: anything, output: anything });
  let waits = 0;
  // Its output is the number of its attempts in this process.
  const waitFor = async (input: unknown): Promise<number> => {
    waits += 1;
    await new Promise((resolve) => setTimeout(resolve, Number(input)));
    return waits;
  };
  await startWorker({
    address: ports.split(',').map((port) => ({ port: Number(port) })),
    name: 'w',
    cpuCap: 1,
    slots: 64,
    withinMs: 60_000,
    handlers: [handle(Echo, (input) => input), handle(Wait, waitFor)],
  });
  print({ kind: 'ready' });
}
