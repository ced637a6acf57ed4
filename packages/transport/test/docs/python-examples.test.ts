// timeout: 60s
// docs/examples/minimal-worker.py and minimal-client.py against a listener with a tiny leader.

import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  type Connection,
  FrameType,
  IdentityStore,
  Listener,
  NO_HEADER,
  nodeClock,
  nodeNet,
} from '@troupe/transport';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RealListener } from '../net/real-listener.js';

const examples = suite('python examples');
const run = promisify(execFile);
const python = spawnSync('python3', ['--version']).status === 0;

function script(name: string): string {
  return fileURLToPath(new URL(`../../../../docs/examples/${name}`, import.meta.url));
}

/**
 * A leader of the minimal dialect in thirty lines: a queue, credit per worker, a dispatch after every event.
 */
class TinyLeader {
  readonly acked: string[] = [];
  private readonly queue: Buffer[] = [];
  private readonly workers = new Map<Connection, { credit: number; running: Buffer[] }>();
  private readonly listener: Listener;
  readonly port: Promise<number>;

  constructor() {
    let bound: (port: number) => void = () => undefined;
    this.port = new Promise((resolve) => {
      bound = resolve;
    });
    this.listener = new Listener({
      net: nodeNet,
      clock: nodeClock,
      onListening: (address) => bound('port' in address ? address.port : 0),
      onConnection: (connection) => {
        if (connection.handshake.role === 'worker') this.workers.set(connection, { credit: 0, running: [] });
        return {
          onFrame: (frame) => {
            if (frame.type === FrameType.SubmitJob) this.queue.push(frame.detach().body);
            const worker = this.workers.get(connection);
            if (worker !== undefined && frame.type === FrameType.Credit)
              worker.credit += frame.body.length === 4 ? frame.body.readInt32LE() : 1;
            if (worker !== undefined && frame.type === FrameType.AckJob)
              this.acked.push(worker.running.shift()?.toString() ?? 'nothing');
            this.dispatch();
          },
          onClose: () => this.workers.delete(connection),
        };
      },
    });
  }

  private dispatch(): void {
    for (const [connection, worker] of this.workers) {
      while (worker.credit > 0 && this.queue.length > 0) {
        const job = this.queue.shift() ?? Buffer.alloc(0);
        worker.credit -= 1;
        worker.running.push(job);
        connection.write(FrameType.AssignJob, NO_HEADER, job);
      }
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.listener.close(resolve));
  }
}

examples(
  'a minimal worker gets and acknowledges the jobs of a minimal client that starts later',
  async () => {
    if (!python) return console.log('skipped: python3 is not installed');
    await using leader = new TinyLeader();
    const port = String(await leader.port);
    const worker = run('python3', [script('minimal-worker.py'), '127.0.0.1', port, '3']);
    const client = await run('python3', [
      script('minimal-client.py'),
      '127.0.0.1',
      port,
      'one',
      'zwei',
      'τρία',
    ]);
    assert.is(client.stdout, 'submitted 3 jobs\n');
    assert.is((await worker).stdout, 'job: one\njob: zwei\njob: τρία\n');
    assert.equal(leader.acked, ['one', 'zwei', 'τρία']);
  },
);

examples('a client of the full dialect, written from the page alone, works', async () => {
  if (!python) return console.log('skipped: python3 is not installed');
  const key = '5a'.repeat(32);
  const identities = new IdentityStore([{ name: 'billing', keys: [{ id: 'py-1', key }] }]);
  await using server = new RealListener({
    auth: { kind: 'hmac', identities },
    onConnection: (connection) => ({
      onFrame: (frame) => {
        const body = frame.incoming;
        const header = { corrId: frame.header.msgId };
        if (body === null) return void connection.write(64, header, Buffer.from(`${frame.body} again`));
        body.read({
          onChunk: (chunk) => body.consumed(chunk.length),
          onEnd: () => connection.write(65, header, Buffer.from(String(body.receivedBytes))),
          onFail: (error) => {
            throw error;
          },
        });
      },
      onClose: () => undefined,
    }),
  });
  const client = fileURLToPath(new URL('../../test/docs/full-client.py', import.meta.url));
  const { stdout } = await run('python3', [client, String(await server.port()), 'py-1', key, '5000000']);
  assert.is(stdout, 'billing hello again 5000000\n');
});

examples.run();
