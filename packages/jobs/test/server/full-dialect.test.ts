// timeout: 60s
// The scripts of docs/examples in the full dialect: written from docs/wire-protocol.md alone, standard library only.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineJob, handle, type LeaderServer } from '@troupe/jobs';
import { IdentityStore } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader, startWorker } from '../checked-processes.js';
import { aNumber, anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const full = suite('full dialect in another language');
const examples = new URL('../../../../docs/examples/', import.meta.url);
const KEY = 'ab'.repeat(32);
const hasPython = spawnSync('python3', ['--version']).status === 0;

interface Script extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly closed: Promise<number | null>;
}

function start(
  script: string,
  leader: LeaderServer,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Script {
  const port = 'port' in leader.address ? String(leader.address.port) : '';
  const path = fileURLToPath(new URL(script, examples));
  const child = spawn('python3', ['-B', path, '127.0.0.1', port, `k:${KEY}`, ...args], {
    env: { ...process.env, ...env },
  });
  let output = '';
  const add = (chunk: string): void => {
    output += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', add);
  child.stderr.setEncoding('utf8').on('data', add);
  const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    output: () => output,
    closed,
    async [Symbol.asyncDispose]() {
      child.kill();
      await closed;
    },
  };
}

async function run(leader: LeaderServer, args: readonly string[]): Promise<string> {
  const script = start('full-client.py', leader, args);
  await script.closed;
  return script.output();
}

async function open(dir: string): Promise<LeaderServer> {
  const keys = [{ id: 'k', key: KEY }];
  const identities = new IdentityStore([
    { name: 'py', keys, submit: ['>'], work: ['>'], observe: ['>'], cancel: ['>'] },
  ]);
  return startLeader({
    dir,
    auth: { kind: 'hmac', identities },
    times: { heartbeatMs: 100 },
    onFatal: (error) => assert.unreachable(error.message),
  });
}

full('the page of the protocol has the same programs', () => {
  const page = readFileSync(new URL('../wire-protocol.md', examples), 'utf8');
  for (const name of ['full_dialect.py', 'full-client.py', 'full-worker.py']) {
    const program = readFileSync(new URL(name, examples), 'utf8').trimEnd();
    assert.ok(page.includes(`### ${name}\n\n\`\`\`python\n${program}\n\`\`\``), name);
  }
});

if (hasPython) {
  full('a python client and worker with keys submit, run, retry, deduplicate and cancel', async () => {
    await using folder = await tempFolder();
    await using leader = await open(folder.path);
    await using worker = start('full-worker.py', leader, []);
    assert.is(await run(leader, ['run', 'py.upper', '"ann"', 'one']), '1 done ANN\n', worker.output());
    // The same key is the same job.
    assert.is(await run(leader, ['run', 'py.upper', '"ann"', 'one']), '1 done ANN\n');
    assert.is(await run(leader, ['run', 'py.flaky', '{"a": 1}']), "2 done {'a': 1}\n");
    assert.is(await run(leader, ['cancel', 'py.sleep', '60']), '3 cancelled not needed\n');
    assert.match(worker.output(), 'abort: 3 not needed');
  });

  full('a python worker renews the lease of a job that runs longer than it', async () => {
    await using folder = await tempFolder();
    await using leader = await open(folder.path);
    await using _worker = start('full-worker.py', leader, []);
    const auth = { kind: 'hmac', keyId: 'k', key: KEY } as const;
    await using client = await connectClient({ address: leader.address, auth });
    const Sleep = defineJob('py.sleep', { input: anything, output: anything, leaseMs: 300 });
    const job = await client.submit(Sleep, 1);
    assert.is(await job.result({ withinMs: 10_000 }), 'slept');
    assert.is((await job.inspect()).attempt, 1);
  });

  full('a python client reads a stream and feeds one', async () => {
    await using folder = await tempFolder();
    await using leader = await open(folder.path);
    const auth = { kind: 'hmac', keyId: 'k', key: KEY } as const;
    const Count = defineJob('ts.count', { input: aNumber, output: anything, chunk: anything });
    const Echo = defineJob('ts.echo', { input: anything, output: anything, chunk: anything, feed: anything });
    await using _worker = await startWorker({
      address: leader.address,
      auth,
      name: 'ts',
      handlers: [
        handle(Count, async function* (to, { attempt }) {
          for (let i = 0; i < to; i += 1) {
            // The chunks of this attempt are void.
            if (attempt === 1 && i === 2) throw new Error('the first attempt fails');
            yield { i };
          }
          return 'counted';
        }),
        handle(Echo, async function* (_input, { feed }) {
          for await (const item of feed) yield item;
          return 'echoed';
        }),
      ],
    });
    const counted = await run(leader, ['stream', 'ts.count', '3']);
    assert.match(counted, "2.0 {'i': 0}\n2.1 {'i': 1}\n2.2 {'i': 2}\n1 done counted\n");
    assert.is(
      await run(leader, ['feed', 'ts.echo', '0', '"a"', '{"b": 1}']),
      "1.0 a\n1.1 {'b': 1}\n2 done echoed\n",
    );
    // A worker of an earlier version, as the one in python is, gets no job that streams.
    await using _older = start('full-worker.py', leader, []);
    await using client = await connectClient({ address: leader.address, auth });
    const Upper = defineJob('py.upper', { input: anything, output: anything, chunk: anything });
    const streamed = await client.submit(Upper, 'ann', { streaming: 'response' });
    assert.is(await run(leader, ['run', 'py.upper', '"bob"']), '4 done BOB\n');
    assert.is((await streamed.inspect()).state, 'queued');
  });

  full('a trace context goes from a python client to a python worker', async () => {
    await using folder = await tempFolder();
    await using leader = await open(folder.path);
    await using worker = start('full-worker.py', leader, []);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const client = start('full-client.py', leader, ['run', 'py.upper', '"ann"'], {
      TRACEPARENT: traceparent,
    });
    await client.closed;
    assert.is(client.output(), '1 done ANN\n');
    assert.match(worker.output(), `trace: 1 ${traceparent}`);
  });

  full('a wrong key is refused', async () => {
    await using folder = await tempFolder();
    await using leader = await open(folder.path);
    const port = 'port' in leader.address ? String(leader.address.port) : '';
    const path = fileURLToPath(new URL('full-client.py', examples));
    const args = ['-B', path, '127.0.0.1', port, `k:${'cd'.repeat(32)}`, 'run', 'py.upper', '1'];
    const child = spawn('python3', args);
    let output = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
    assert.is(await new Promise((resolve) => child.once('close', resolve)), 1);
    assert.match(output, 'error 1002 of the leader');
  });
} else {
  console.log('skipped: python3 is not here, so its scripts cannot run');
}

full.run();
