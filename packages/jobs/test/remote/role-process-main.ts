// One role in a process of its own, for tests that kill processes. Prints its events as JSON lines; ends with its parent.
//   node role-process-main.js leader <dir> <port> <more options as JSON>
//   node role-process-main.js worker <port> <name> <slots> <more options as JSON>
//   node role-process-main.js client <port> <name>
//   node role-process-main.js feeder <port> <name>
//   node role-process-main.js reader <port> <name> <streams at the same time>
import { type JobHandle, JobsError, type LeaderServerOptions, type StartWorkerOptions } from '@troupe/jobs';
import { submitAndRead } from '../chaos/token-reader.js';
import { tokensHandler } from '../chaos/token-stream.js';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { Echo, Fed, sampleHandlers } from './sample-jobs.js';

const [role, ...rest] = process.argv.slice(2);
const print = (event: object): void => void process.stdout.write(`${JSON.stringify(event)}\n`);

// An orphan of a test that died must not stay.
process.stdin.on('end', () => process.exit(0)).resume();

if (role === 'leader') {
  const [dir = '', port = '0', more = '{}'] = rest;
  const leader = await startLeader({
    ...(JSON.parse(more) as Partial<LeaderServerOptions>),
    dir,
    address: { port: Number(port) },
    onFatal: (error) => {
      process.stderr.write(`${error.stack}\n`);
      process.exit(74);
    },
    observe: (event) => {
      if (event.kind === 'requeued' || event.kind === 'worker') print(event);
    },
  });
  print({ kind: 'ready', port: 'port' in leader.address ? leader.address.port : 0 });
  process.once('SIGTERM', () => void leader.close({ withinMs: 2_000 }).then(() => process.exit(0)));
} else if (role === 'client') {
  const [port, name = 'c'] = rest;
  const client = await connectClient({ address: { port: Number(port) }, name, withinMs: 30_000 });
  let isEnding = false;
  process.once('SIGTERM', () => {
    isEnding = true;
  });
  print({ kind: 'ready' });
  let next = 0;
  /** Undefined when the disk of the leader is full; the input was not accepted and is not used again. */
  const submitted = async (input: string): Promise<JobHandle<typeof Echo> | undefined> => {
    try {
      return await client.submit(Echo, input);
    } catch (error) {
      if (!(error instanceof JobsError && error.code === 'ERR_DISK_LOW')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return undefined;
    }
  };
  // Each line is printed after its acknowledgement: the pipe keeps it even if this process is killed right after.
  const lane = async (): Promise<void> => {
    while (!isEnding) {
      const input = `${name}:${next}`;
      next += 1;
      const handle = await submitted(input);
      if (handle === undefined) continue;
      print({ kind: 'acked', id: handle.id, input });
      const output = await handle.result();
      print({ kind: 'result', id: handle.id, output });
    }
  };
  await Promise.all(Array.from({ length: 16 }, lane));
  process.exit(0);
} else if (role === 'feeder') {
  const [port, name = 'f'] = rest;
  const client = await connectClient({ address: { port: Number(port) }, name, withinMs: 30_000 });
  let isEnding = false;
  process.once('SIGTERM', () => {
    isEnding = true;
  });
  print({ kind: 'ready' });
  let next = 0;
  /** True: accepted. A full disk is the leader's answer, and the item is not used again. */
  const isFed = async (feeding: Promise<unknown>): Promise<boolean> => {
    try {
      await feeding;
      return true;
    } catch (error) {
      if (!(error instanceof JobsError && error.code === 'ERR_DISK_LOW')) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return false;
    }
  };
  // Each line is printed after its acknowledgement: the pipe keeps it even if this process is killed right after.
  const feedItems = async (job: JobHandle<typeof Fed>, own: string): Promise<void> => {
    try {
      for (let i = 0; i < 20; i += 1) {
        const item = `${own}:${i}`;
        if (await isFed(job.feed(item))) print({ kind: 'fed', id: job.id, item });
      }
      while (!(await isFed(job.endFeed())));
    } catch (error) {
      // While this process was cut off for longer than the grace, the leader has ended the feed.
      if (!(error instanceof JobsError && error.code === 'ERR_FEED_ENDED')) throw error;
    }
  };
  const lane = async (): Promise<void> => {
    while (!isEnding) {
      next += 1;
      const own = `${name}:${next}`;
      let job: JobHandle<typeof Fed> | undefined;
      await isFed(
        client.submit(Fed, own, { streaming: 'internal' }).then((handle) => {
          job = handle;
        }),
      );
      if (job === undefined) continue;
      await feedItems(job, own);
      print({ kind: 'fed-result', id: job.id, output: await job.result() });
    }
  };
  await Promise.all(Array.from({ length: 4 }, lane));
  process.exit(0);
} else if (role === 'reader') {
  const [port, name = 'r', lanes = '1'] = rest;
  const client = await connectClient({ address: { port: Number(port) }, name, withinMs: 30_000 });
  let isEnding = false;
  process.once('SIGTERM', () => {
    isEnding = true;
  });
  print({ kind: 'ready' });
  await submitAndRead(client, Number(lanes), print, () => isEnding);
  process.exit(0);
} else {
  const [port, name = 'w', slots = '4', more = '{}'] = rest;
  const worker = await startWorker({
    address: { port: Number(port) },
    name,
    slots: Number(slots),
    cpuCap: 1,
    withinMs: 30_000,
    ...(JSON.parse(more) as Partial<StartWorkerOptions>),
    handlers: [
      ...sampleHandlers(name, (exec, input) => print({ kind: 'started', exec, input })),
      tokensHandler,
    ],
  });
  process.once('SIGTERM', () => void worker.close({ withinMs: 500 }).then(() => process.exit(0)));
  // Closes the worker and stdin: any other handle that keeps this process alive is a bug.
  process.once('SIGUSR2', () => void worker.close({ withinMs: 500 }).then(() => process.stdin.destroy()));
  print({ kind: 'ready' });
}
