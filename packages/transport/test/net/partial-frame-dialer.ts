// Writes a Hello, one whole frame and a part of another one, then waits for its kill.

import { connect } from 'node:net';
import { FrameWriter } from '@troupe/transport';
import { hello } from '../raw-peer.js';

const writer = new FrameWriter();
writer.writeFrame(32, hello());
writer.writeFrame(64, Buffer.from('0000', 'hex'));
writer.writeFrame(64, Buffer.alloc(100_000));
const bytes = Buffer.concat(writer.takePieces());
const socket = connect(Number(process.argv[2]), '127.0.0.1', () => socket.write(bytes.subarray(0, -5_000)));
