import type { SeededRandom } from '@troupe/core/testing';
import { type Connection, Dialer, NO_HEADER, nodeClock, nodeNet } from '@troupe/transport';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import { JOB_FEATURES } from '#src/protocol/job-protocol.js';
import type { WorkerHello } from '#src/protocol/worker/worker-messages.js';
import { encodeClient, encodeClientHello } from '#src/wire/client/client-codec.js';
import type { Emit } from '#src/wire/session-codec.js';
import { encodeWorker, encodeWorkerHello } from '#src/wire/worker/worker-codec.js';
import { HostileMessages } from './hostile-messages.js';

/** The exec of the jobs that hostile workers get; no healthy client uses it. */
export const EVIL_EXEC = 'evil.exec';
const MESSAGES_MAX = 20;
/** Between two messages: assignments and items of feeds come meanwhile. */
const PAUSE_MS_MAX = 20;
const WORKER_HELLO: WorkerHello = {
  worker: 'evil',
  incarnation: 'evil',
  features: JOB_FEATURES,
  execs: [EVIL_EXEC],
  patterns: ['job.assign.>'],
  slots: 4,
  credit: { jobs: 4, bytes: 1_000_000 },
  held: [],
};

/**
 * A connection that has passed the handshake and sends messages of streams, feeds, warm runners and progress,
 * some of them with a changed byte, until the leader or it has had enough.
 */
export function hostileSession(port: number, random: SeededRandom, jobs: readonly number[]): Promise<void> {
  const role = random.below(2) === 0 ? 'client' : 'worker';
  return new Promise((resolve) => {
    const dialer = new Dialer({
      net: nodeNet,
      clock: nodeClock,
      address: { port },
      role,
      onConnection: (connection) => {
        let isOpen = true;
        const end = (): void => {
          isOpen = false;
          dialer.close();
          resolve();
        };
        void attack(connection, role, random, jobs, () => isOpen).then(end);
        return { onFrame: () => undefined, onClose: end };
      },
    });
  });
}

async function attack(
  connection: Connection,
  role: 'client' | 'worker',
  random: SeededRandom,
  jobs: readonly number[],
  isOpen: () => boolean,
): Promise<void> {
  const messages = new HostileMessages(random, jobs);
  const emit: Emit = (type, out) => void connection.write(type, NO_HEADER, out.take());
  const emitChanged: Emit = (type, out) => {
    const bytes = Buffer.from(out.take());
    if (bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
    connection.write(type, NO_HEADER, bytes);
  };
  if (role === 'client')
    encodeClientHello({ client: 'evil', token: `evil-${random.below(4)}` }, new ByteWriter(), emit);
  else {
    const hello = random.below(2) === 0 ? WORKER_HELLO : messages.hello(WORKER_HELLO);
    encodeWorkerHello(hello, new ByteWriter(), emit);
  }
  for (let left = random.between(1, MESSAGES_MAX); left > 0 && isOpen(); left -= 1) {
    const send = random.below(10) === 0 ? emitChanged : emit;
    if (role === 'client') encodeClient(messages.ofClient(), new ByteWriter(), send);
    else encodeWorker(messages.ofWorker(), new ByteWriter(), send);
    await new Promise((resolve) => setTimeout(resolve, random.below(PAUSE_MS_MAX)));
  }
}
