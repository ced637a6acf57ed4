import { createServer, type Server } from 'node:net';
import { Worker } from 'node:worker_threads';
import { type Lateness, lateness } from './timer-probe.js';

/** Round trips of four bytes over TCP to a server on this event loop, measured from another thread. */
export class EchoProbe {
  private readonly server: Server;
  private readonly client: Worker;

  private constructor(server: Server, client: Worker) {
    this.server = server;
    this.client = client;
  }

  static async open(pauseMs = 1): Promise<EchoProbe> {
    const server = createServer((socket) => {
      socket.setNoDelay(true);
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (address === null || typeof address === 'string') throw new TypeError('the echo server has no port');
    const client = new Worker(new URL('./echo-client.js', import.meta.url), {
      workerData: { port: address.port, pauseMs },
    });
    await new Promise<void>((resolve, reject) => {
      client.once('message', () => resolve());
      client.once('error', reject);
    });
    return new EchoProbe(server, client);
  }

  async stop(): Promise<Lateness> {
    const client = this.client;
    const answer = new Promise<number[]>((resolve, reject) => {
      client.once('message', resolve);
      client.once('error', reject);
    });
    client.postMessage('stop');
    const roundTrips = await answer;
    await client.terminate();
    this.server.close();
    return lateness(roundTrips);
  }
}
