// A worker thread, so that the measured event loop does not delay the measuring clock.
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const { port, pauseMs }: { port: number; pauseMs: number } = workerData;
const roundTrips: number[] = [];
let sent = 0;
let stopping = false;
let ended = false;

const socket = connect(port, '127.0.0.1');
socket.setNoDelay(true);

function ping(): void {
  sent = performance.now();
  socket.write('ping');
}

function finish(): void {
  if (ended) return;
  ended = true;
  parentPort?.postMessage(roundTrips);
  socket.destroy();
  parentPort?.close();
}

socket.on('connect', () => {
  parentPort?.postMessage('connected');
  ping();
});
socket.on('data', () => {
  roundTrips.push(performance.now() - sent);
  if (stopping) finish();
  else setTimeout(ping, pauseMs);
});
// The pending round trip is awaited: on a blocked event loop it is the only one.
parentPort?.on('message', () => {
  stopping = true;
  setTimeout(finish, 5_000).unref();
});
