import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { chown, mkdtemp, readdir, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The user of Debian's package: the server refuses to run as root. */
interface ServerUser {
  readonly uid?: number;
  readonly gid?: number;
}

/** A server on a private folder and a free port of loopback. */
export class PostgresServer implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  private readonly folder: string;
  private readonly bin: string;
  private readonly user: ServerUser;
  private child: ChildProcess;

  private constructor(bin: string, user: ServerUser, folder: string, port: number, child: ChildProcess) {
    this.bin = bin;
    this.user = user;
    this.folder = folder;
    this.port = port;
    this.child = child;
    this.url = `postgres://troupe@127.0.0.1:${port}/postgres`;
  }

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const bin = await binFolder();
    const user = await serverUser();
    const folder = await mkdtemp(join(tmpdir(), 'troupe-postgres-'));
    if (user.uid !== undefined) await chown(folder, user.uid, user.gid as number);
    const data = join(folder, 'data');
    const words = ['-D', data, '-U', 'troupe', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
    await run(join(bin, 'initdb'), words, { ...user, cwd: folder });
    const port = await freePort();
    const child = launch(bin, user, folder, port, settings);
    const server = new PostgresServer(bin, user, folder, port, child);
    await server.isReady();
    return server;
  }

  async isReady(): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const isUp = await run(join(this.bin, 'pg_isready'), ['-h', '127.0.0.1', '-p', String(this.port)]).then(
        () => true,
        () => false,
      );
      if (isUp) return;
      if (tries > 300 || this.child.exitCode !== null) throw new Error('PostgreSQL did not start');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** As a crash of the machine would end it. */
  async kill(): Promise<void> {
    await this.end('SIGQUIT');
  }

  async restart(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    this.child = launch(this.bin, this.user, this.folder, this.port, settings);
    await this.isReady();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGINT');
    await rm(this.folder, { recursive: true });
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

function launch(
  bin: string,
  user: ServerUser,
  folder: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): ChildProcess {
  const given = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    ...settings,
  };
  const words = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const data = join(folder, 'data');
  return spawn(join(bin, 'postgres'), ['-D', data, ...words], { ...user, cwd: folder, stdio: 'ignore' });
}

/** Debian keeps each version in a folder of its own. */
async function binFolder(): Promise<string> {
  const root = '/usr/lib/postgresql';
  const versions = (await readdir(root)).map(Number).sort((a, b) => b - a);
  return join(root, String(versions[0]), 'bin');
}

async function serverUser(): Promise<ServerUser> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, 'postgres'])));
  return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
