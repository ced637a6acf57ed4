import { FrameDecoder, type FrameHeader, FrameType, FrameWriter, type NetSocket } from '@troupe/transport';
import { decodeWireError } from '#src/connection/wire-error.js';
import { encodeHello, type Hello } from '#src/handshake/hello.js';
import { type ConnectionRig, PORT } from './connection-rig.js';

/** A peer that writes any bytes, valid or not, and records the frames it receives. */
export class RawPeer {
  readonly frames: { readonly type: number; readonly payload: Buffer }[] = [];
  closed = false;
  private readonly socket: NetSocket;

  constructor(socket: NetSocket) {
    this.socket = socket;
    const decoder = new FrameDecoder(
      {
        onFrame: (type, bytes, start, end) =>
          this.frames.push({ type, payload: Buffer.from(bytes.subarray(start, end)) }),
      },
      2 ** 28,
    );
    socket.attach({
      onData: (chunk) => {
        decoder.push(chunk);
      },
      onWritable: () => undefined,
      onEnd: () => socket.end(),
      onClose: () => {
        this.closed = true;
      },
    });
  }

  bytes(...bytes: readonly (Uint8Array | string)[]): void {
    this.socket.write(
      bytes.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : Buffer.from(part))),
    );
  }

  frame(type: number, payload: Uint8Array = new Uint8Array(0)): void {
    const writer = new FrameWriter();
    writer.writeFrame(type, payload);
    this.socket.write(writer.takePieces());
  }

  message(type: number, header: FrameHeader, body: Uint8Array = new Uint8Array(0)): void {
    const writer = new FrameWriter();
    writer.writeMessage(type, header, body);
    this.socket.write(writer.takePieces());
  }

  end(): void {
    this.socket.end();
  }

  /** Names of the Error frames received. */
  get errors(): string[] {
    return this.frames
      .filter(({ type }) => type === FrameType.Error)
      .map(({ payload }) => decodeWireError(payload)?.name ?? 'unreadable');
  }

  get types(): number[] {
    return this.frames.map(({ type }) => type);
  }
}

export function rawPeer(rig: ConnectionRig, machine = 'raw'): RawPeer {
  const opened: RawPeer[] = [];
  rig.network.machine(machine).dial(
    { address: { host: 'leader', port: PORT }, timeoutMs: 1000 },
    {
      onOpen: (socket) => opened.push(new RawPeer(socket)),
      onError: (error) => {
        throw error;
      },
    },
  );
  rig.clock.advance(2);
  const [peer] = opened;
  if (peer === undefined) throw new Error('not connected');
  return peer;
}

/** A Hello payload of the full dialect, with some fields changed. */
export function hello(changes: Partial<Hello> = {}): Buffer {
  return encodeHello({
    versionMin: 1,
    versionMax: 1,
    methods: ['none', 'hmac', 'mtls'],
    nonce: Buffer.alloc(32, 0xaa),
    capacity: {
      payloadBytesMax: 1_114_112,
      bodyBytesMax: 8_388_608,
      windowBytes: 1_048_576,
      chunkBytesMax: 65_536,
    },
    name: 'ann',
    ...changes,
  });
}
