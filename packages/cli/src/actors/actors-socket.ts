import { rm, stat } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import type { ActorsView } from '@troupe/jobs';
import { CliError } from '../cli-error.js';
import { ExitCode } from '../exit-code.js';

/** The largest answer that is read: a tree is at most some hundred kilobytes. */
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
const ANSWER_MS = 10_000;

/**
 * A Unix socket that shows the actors of this process: every connection gets one line of JSON. Only its owner
 * can connect, and there is nothing to request.
 */
export class ActorsSocket {
  private readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async open(path: string, view: () => ActorsView): Promise<ActorsSocket> {
    await removeLeftOver(path);
    const server = createServer((socket) => {
      socket.on('error', () => socket.destroy());
      socket.end(`${JSON.stringify(view())}\n`);
    });
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      // The file is made with this mode: listening starts in this turn.
      const mask = process.umask(0o177);
      server.listen(path, () => resolve(new ActorsSocket(server)));
      process.umask(mask);
    });
  }

  close(): void {
    this.server.close();
  }
}

/** The file of a socket outlives a process that was killed. */
async function removeLeftOver(path: string): Promise<void> {
  const code = await new Promise<string | undefined>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
  if (code === 'ECONNREFUSED' && (await stat(path)).isSocket()) await rm(path);
}

/** The actors of the process behind such a socket. */
export async function readActors(path: string): Promise<ActorsView> {
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(path).setEncoding('utf8');
    let read = '';
    socket.setTimeout(ANSWER_MS, () => socket.destroy(notActors(path, 'it does not answer')));
    socket.on('data', (chunk: string) => {
      read += chunk;
      if (read.length > ANSWER_BYTES_MAX) socket.destroy(notActors(path, 'its answer is too long'));
    });
    socket.on('error', reject);
    socket.on('end', () => resolve(read));
  });
  try {
    return JSON.parse(text) as ActorsView;
  } catch (cause) {
    throw notActors(path, 'its answer is no JSON', { cause });
  }
}

function notActors(path: string, why: string, options?: ErrorOptions): CliError {
  const text = `socket ${path}: ${why}; name the socket of troupe worker --actors-socket`;
  return new CliError('ERR_CLI_ADDRESS', ExitCode.data, text, options);
}
