// Writes a Welcome, one whole frame and a part of another one, then waits for its kill.

import { createServer } from 'node:net';
import { FrameWriter } from '@troupe/transport';
import { encodeWelcome } from '#src/handshake/welcome.js';

const capacity = { payloadBytesMax: 1_000_000, bodyBytesMax: 0, windowBytes: 0, chunkBytesMax: 0 };
const welcome = encodeWelcome({
  version: 1,
  authMethod: 'none',
  connectionId: 'cc'.repeat(16),
  capacity,
  pingMs: 10_000,
  deadMs: 30_000,
  inFlightMax: 1,
  creditMax: 1,
  identityName: 'local',
});
const writer = new FrameWriter();
writer.writeFrame(35, welcome);
writer.writeFrame(64, Buffer.from('0000', 'hex'));
writer.writeFrame(64, Buffer.alloc(100_000));
const bytes = Buffer.concat(writer.takePieces());
const server = createServer((socket) => socket.write(bytes.subarray(0, -5_000)));
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.(address !== null && typeof address === 'object' ? address.port : 0);
});
