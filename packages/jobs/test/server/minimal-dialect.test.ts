// timeout: 60s
// The scripts of docs/examples against a leader: written from docs/wire-protocol.md alone, standard library only.
import { spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { defineJob, type LeaderServer } from '@troupe/jobs';
import { formatCloseReason } from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { connectClient, startLeader } from '../checked-processes.js';
import { anything } from '../plain-schema.js';
import { tempFolder } from '../temp-folder.js';

const minimal = suite('minimal dialect');
const examples = new URL('../../../../docs/examples/', import.meta.url);
const Raw = defineJob('default', { input: anything, output: anything });
const hasPython = spawnSync('python3', ['--version']).status === 0;

async function open(dir: string): Promise<LeaderServer> {
  return startLeader({
    dir,
    onFatal: (error) => {
      throw error;
    },
  });
}

function portOf(leader: LeaderServer): number {
  return 'port' in leader.address ? leader.address.port : 0;
}

function python(script: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn('python3', [fileURLToPath(new URL(script, examples)), ...args]);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk;
  });
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
}

function frame(type: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUInt32LE(5 + payload.length, 0);
  head[4] = type;
  head.writeUInt32LE(payload.length, 5);
  return Buffer.concat([head, payload]);
}

/** Writes bytes; resolves with those that came back when the leader closes or `enough` is true. */
function raw(port: number, bytes: Buffer, enough: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let got = Buffer.alloc(0);
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    const done = (): void => {
      socket.destroy();
      resolve(got);
    };
    socket.on('data', (chunk) => {
      got = Buffer.concat([got, chunk]);
      if (got.length >= enough) done();
    });
    socket.on('end', done).on('error', reject);
  });
}

if (hasPython) {
  minimal('the python client submits, the python worker runs and acknowledges', async () => {
    await using folder = await tempFolder();
    await using leader = await open(folder.path);
    const port = String(portOf(leader));
    const sent = await python('minimal-client.py', ['127.0.0.1', port, 'one', 'zwei', '三']);
    assert.equal(sent, { code: 0, output: 'submitted 3 jobs\n' });
    const worked = await python('minimal-worker.py', ['127.0.0.1', port, '3']);
    assert.equal(worked, { code: 0, output: 'job: one\njob: zwei\njob: 三\n' });
    await using client = await connectClient({ address: leader.address });
    await client.open(Raw, client.idOf(3)).result({ withinMs: 5_000 });
    assert.is((await client.overview()).counts.done, 3);
  });
} else {
  console.log('skipped: python3 is not here, so its two scripts cannot run');
}

minimal('credit given before any job is kept, spent one by one, and never exceeded', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  const port = portOf(leader);
  const two = Buffer.alloc(4);
  two.writeInt32LE(2);
  const assigned = raw(port, Buffer.concat([frame(10), frame(4, two)]), 2 * 10);
  const jobs = ['a', 'b', 'c'].map((text) => frame(1, Buffer.from(text)));
  const submitter = connect(port, '127.0.0.1', () => submitter.end(Buffer.concat([frame(9), ...jobs])));
  assert.equal(await assigned, Buffer.concat([frame(2, Buffer.from('a')), frame(2, Buffer.from('b'))]));
});

minimal('a frame that the dialect does not allow ends the connection and nothing else', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  const port = portOf(leader);
  const bad = Buffer.alloc(4);
  bad.writeInt32LE(-1);
  for (const bytes of [
    Buffer.concat([frame(10), frame(4, bad)]),
    Buffer.concat([frame(10), frame(4, Buffer.alloc(3))]),
    Buffer.concat([frame(10), frame(3)]),
    Buffer.concat([frame(9), frame(4)]),
  ])
    assert.is((await raw(port, bytes, 1)).length, 0);
  await using client = await connectClient({ address: leader.address });
  assert.is((await client.submit(Raw, 'still here')).receipt?.level, 'fsync');
});

minimal(
  'a too large job ends the connection, with a reason in the log; jobs before it are accepted',
  async () => {
    await using folder = await tempFolder();
    const closed: string[] = [];
    await using leader = await startLeader({
      dir: folder.path,
      limits: { payloadBytesMax: 1_000 },
      onFatal: (error) => assert.unreachable(error.message),
      onEvent: (event) => {
        if (event.kind === 'closed') closed.push(formatCloseReason(event.reason));
      },
    });
    const bytes = Buffer.concat([
      frame(9),
      frame(1, Buffer.alloc(1_000, '1')),
      frame(1, Buffer.alloc(1_001)),
    ]);
    assert.is((await raw(portOf(leader), bytes, 1)).length, 0);
    await using client = await connectClient({ address: leader.address });
    // The job before it may still be on its way to the disk; if it were lost, this would never end.
    while ((await client.overview()).accepted < 1);
    assert.equal(closed, ['PAYLOAD_TOO_LARGE: payload of 1001 bytes, at most 1000']);
  },
);

minimal('a job whose minimal worker disconnects without an ack is assigned again', async () => {
  await using folder = await tempFolder();
  await using leader = await open(folder.path);
  const port = portOf(leader);
  await using client = await connectClient({ address: leader.address });
  const job = await client.submit(Raw, 'x');
  const expected = frame(2, Buffer.from('"x"'));
  assert.equal(await raw(port, Buffer.concat([frame(10), frame(4)]), expected.length), expected);
  assert.equal(await raw(port, Buffer.concat([frame(10), frame(4)]), expected.length), expected);
  assert.ok((await job.inspect()).attempt >= 2);
});

minimal.run();
