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

type ServerSettings = Readonly<Record<string, string>>;

interface ServerPlace {
  readonly bin: string;
  readonly user: ServerUser;
  readonly folder: string;
  readonly data: string;
}

/** A server on a private folder and a free port of loopback. */
export class PostgresServer implements AsyncDisposable {
  readonly url: string;
  readonly port: number;
  private readonly folder: string;
  private readonly bin: string;
  private readonly user: ServerUser;
  private readonly settings: ServerSettings;
  private child: ChildProcess;

  private constructor({ bin, user, folder }: ServerPlace, port: number, settings: ServerSettings) {
    this.bin = bin;
    this.user = user;
    this.folder = folder;
    this.port = port;
    this.settings = settings;
    this.child = launch(bin, user, folder, port, settings);
    this.url = `postgres://troupe@127.0.0.1:${port}/postgres`;
  }

  /** `root`: where its folder is made. Default: the temporary folder of the system. */
  static start(settings: ServerSettings = {}, root = tmpdir()): Promise<PostgresServer> {
    return PostgresServer.launch(settings, root, ({ bin, user, folder, data }) => {
      const words = ['-D', data, '-U', 'troupe', '--auth=trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
      return run(join(bin, 'initdb'), words, { ...user, cwd: folder });
    });
  }

  /** A copy of this server that follows it, until it is promoted. */
  startStandby(settings: ServerSettings = {}): Promise<PostgresServer> {
    return PostgresServer.launch(settings, tmpdir(), ({ bin, user, folder, data }) => {
      const words = ['-D', data, '-h', '127.0.0.1', '-p', String(this.port), '-U', 'troupe'];
      return run(join(bin, 'pg_basebackup'), [...words, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'], {
        ...user,
        cwd: folder,
      });
    });
  }

  private static async launch(
    settings: ServerSettings,
    root: string,
    fill: (place: ServerPlace) => Promise<unknown>,
  ): Promise<PostgresServer> {
    const bin = await binFolder();
    const user = await serverUser();
    const folder = await mkdtemp(join(root, 'troupe-postgres-'));
    if (user.uid !== undefined) await chown(folder, user.uid, user.gid as number);
    const place = { bin, user, folder, data: join(folder, 'data') };
    await fill(place);
    const server = new PostgresServer(place, await freePort(), settings);
    await server.isReady();
    return server;
  }

  /** The url of a new, empty database: sooner there than another server. */
  async database(name: string): Promise<string> {
    const place = ['-h', '127.0.0.1', '-p', String(this.port), '-U', 'troupe'];
    await run(join(this.bin, 'createdb'), [...place, name]);
    return this.url.replace(/postgres$/, name);
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

  /** A standby becomes the primary. */
  async promote(): Promise<void> {
    await run(join(this.bin, 'pg_ctl'), ['promote', '-w', '-D', join(this.folder, 'data')], this.user);
  }

  /** As a crash of the machine would end it. */
  async kill(): Promise<void> {
    await this.end('SIGQUIT');
  }

  /** `changed`: settings in place of those before. */
  async restart(changed: ServerSettings = {}): Promise<void> {
    this.child = launch(this.bin, this.user, this.folder, this.port, { ...this.settings, ...changed });
    await this.isReady();
  }

  /** It may have ended by itself, as it does on a full disk. */
  async recover(): Promise<void> {
    const isReady = await this.isReady().then(
      () => true,
      () => false,
    );
    if (!isReady) await this.restart();
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
  settings: ServerSettings,
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
