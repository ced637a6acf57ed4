// Runs in a thread of its own, so that its clock does not wait for the loop it measures.
import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

const { port, pauseMs }: { port: number; pauseMs: number } = workerData;
const trips: number[] = [];
let sent = 0;
let stopping = false;
let ended = false;

const socket = connect(port, '127.0.0.1');
socket.setNoDelay(true);

function ping(): void {
  sent = performance.now();
  socket.write('ping');
}

function end(): void {
  if (ended) return;
  ended = true;
  parentPort?.postMessage(trips);
  socket.destroy();
  parentPort?.close();
}

socket.on('connect', () => {
  parentPort?.postMessage('connected');
  ping();
});
socket.on('data', () => {
  trips.push(performance.now() - sent);
  if (stopping) end();
  else setTimeout(ping, pauseMs);
});
// The trip under way when the probe stops is waited for: on a blocked loop it is the only one there is.
parentPort?.on('message', () => {
  stopping = true;
  setTimeout(end, 5_000).unref();
});
