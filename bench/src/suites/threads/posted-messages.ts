import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

/** A thread that counts what is posted to it, and answers `seen` with the count and a number with itself. */
const COUNTING_THREAD = `
const { parentPort } = require('node:worker_threads');
let seen = 0;
parentPort.on('message', (message) => {
  if (message === 'seen') parentPort.postMessage(seen);
  else if (message.echo !== undefined) parentPort.postMessage(message.echo);
  else seen += 1;
});`;

/** `postMessage` to a worker thread: the platform's own way, for comparison. */
export class PostedMessages {
  private readonly worker = new Worker(COUNTING_THREAD, { eval: true });

  post(message: unknown): void {
    this.worker.postMessage(message);
  }

  async seen(): Promise<number> {
    this.worker.postMessage('seen');
    return (await this.next()) as number;
  }

  async echo(n: number): Promise<number> {
    this.worker.postMessage({ echo: n });
    return (await this.next()) as number;
  }

  async close(): Promise<void> {
    await this.worker.terminate();
  }

  private async next(): Promise<unknown> {
    const [answer] = (await once(this.worker, 'message')) as [unknown];
    return answer;
  }
}
