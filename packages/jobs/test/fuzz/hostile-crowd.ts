import { connect } from 'node:net';
import { SeededRandom } from '@troupe/core/testing';
import { FrameWriter, NO_HEADER } from '@troupe/transport';
import { ByteWriter } from '#src/bytes/byte-writer.js';
import type { WorkerHello } from '#src/protocol/worker/worker-messages.js';
import { encodeClientHello } from '#src/wire/client/client-codec.js';
import { JobFrameType } from '#src/wire/job-frame-type.js';
import { encodeWorkerHello } from '#src/wire/worker/worker-codec.js';
import { hostileSession } from './hostile-session.js';

const TYPES: readonly number[] = Object.values(JobFrameType);
const OPEN_MS_MAX = 300;
const WORKER_HELLO: WorkerHello = {
  worker: 'evil',
  incarnation: 'evil',
  execs: ['evil.exec'],
  patterns: [],
  slots: 4,
  credit: { jobs: 4, bytes: 1_000_000 },
  held: [],
};

/**
 * Connections that send garbage to a leader: noise, broken frames, legal frames without a handshake, and
 * sessions behind a handshake whose messages are wrong.
 */
export class HostileCrowd {
  connections = 0;
  sessions = 0;
  /** Jobs that stream and are fed, which hostile workers hold. */
  readonly jobs: number[] = [];
  private readonly port: number;
  private readonly random: SeededRandom;

  constructor(port: number, seed: number) {
    this.port = port;
    this.random = new SeededRandom(seed);
  }

  /** So many connections at once; resolves when all of them have ended. */
  async attack(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.attackOnce()));
  }

  private attackOnce(): Promise<void> {
    this.connections += 1;
    if (this.random.below(3) === 0) {
      this.sessions += 1;
      return hostileSession(this.port, this.random, this.jobs.slice(-8));
    }
    const bytes = this.garbage();
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => {
        const cut = this.random.between(0, bytes.length);
        socket.write(bytes.subarray(0, cut));
        socket.write(bytes.subarray(cut));
        setTimeout(() => socket.destroy(), this.random.between(1, OPEN_MS_MAX));
      });
      socket.on('error', () => undefined).on('close', () => resolve());
      socket.resume();
    });
  }

  private garbage(): Buffer {
    const { random } = this;
    if (random.between(0, 4) === 0) return Buffer.from(random.bytes(random.between(1, 2_000)));
    const writer = new FrameWriter();
    for (let frames = random.between(1, 6); frames > 0; frames -= 1) this.writeFrame(writer);
    const bytes = Buffer.concat(writer.takePieces());
    for (let flips = random.between(0, 4); flips > 0; flips -= 1)
      bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
    return random.between(0, 3) === 0 ? bytes.subarray(0, random.between(0, bytes.length)) : bytes;
  }

  private writeFrame(writer: FrameWriter): void {
    const { random } = this;
    const emit = (type: number, out: ByteWriter): void => {
      writer.writeMessage(type, NO_HEADER, out.take());
    };
    switch (random.between(0, 3)) {
      case 0:
        return encodeClientHello({ client: 'evil', token: 'evil' }, new ByteWriter(), emit);
      case 1:
        return encodeWorkerHello(WORKER_HELLO, new ByteWriter(), emit);
      default: {
        const type = TYPES[random.between(0, TYPES.length - 1)] as number;
        writer.writeMessage(type, NO_HEADER, random.bytes(random.between(0, 300)));
      }
    }
  }
}
