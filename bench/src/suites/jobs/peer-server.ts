import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The running server of a peer, on loopback with a temporary folder and a free port. */
export interface PeerServer {
  readonly port: number;
  close(): Promise<void>;
}

interface ServerCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number | undefined;
  /** Runs before the server starts. */
  prepare?(): Promise<void> | void;
}

const BINARIES: Readonly<Record<string, string>> = {
  bullmq: 'redis-server',
  rabbitmq: '/usr/lib/rabbitmq/bin/rabbitmq-server',
  nats: 'nats-server',
  'redis-streams': 'redis-server',
  'pg-boss': 'postgres',
};
const POSTGRES_FOLDERS = [
  '/usr/lib/postgresql/15/bin',
  '/usr/lib/postgresql/16/bin',
  '/usr/lib/postgresql/17/bin',
];

/** The reason why the server of a peer cannot run here, `undefined` if it can. */
export function missingServer(system: string): string | undefined {
  const binary = binaryOf(system);
  if (binary === undefined) return undefined;
  if (spawnSync('sh', ['-c', `command -v '${binary}'`], { stdio: 'ignore' }).status === 0) return undefined;
  return `${system}: the server ${binary} is not installed: npm run bench -- --install-peers (as root, with apt-get)`;
}

export async function startServer(system: string): Promise<PeerServer> {
  const dir = await mkdtemp(join(tmpdir(), 'troupe-bench-peer-'));
  const port = await freePort();
  const server = await commandFor(system, dir, port);
  await server.prepare?.();
  const child = spawn(server.command, server.args, {
    cwd: dir,
    env: { ...process.env, ...server.env },
    stdio: 'ignore',
    // A separate process group: RabbitMQ is a script that starts a virtual machine.
    detached: true,
    uid: server.uid,
  });
  // A process that is killed at its time limit must not leave its server running.
  process.once('exit', () => {
    if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
      process.kill(-child.pid, 'SIGKILL');
  });
  try {
    await waitUntilListening(child, port);
  } catch (error) {
    await stop(child);
    throw error;
  }
  return {
    port,
    close: async () => {
      await stop(child);
      await rm(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function commandFor(system: string, dir: string, port: number): Promise<ServerCommand> {
  const command = binaryOf(system) ?? '';
  switch (system) {
    case 'bullmq': {
      const durable = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', ''];
      return { command, args: ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, ...durable] };
    }
    case 'redis-streams': {
      const inMemory = ['--appendonly', 'no', '--save', ''];
      return { command, args: ['--bind', '127.0.0.1', '--port', String(port), '--dir', dir, ...inMemory] };
    }
    case 'nats':
      return { command, args: ['-js', '-sd', dir, '-a', '127.0.0.1', '-p', String(port)] };
    case 'rabbitmq':
      return { command, args: [], env: await rabbitEnv(dir, port) };
    case 'pg-boss':
      return postgresCommand(command, dir, port);
    default:
      throw new RangeError(`no server for ${system}`);
  }
}

async function rabbitEnv(dir: string, port: number): Promise<Record<string, string>> {
  await writeFile(join(dir, 'rabbitmq.conf'), 'loopback_users = none\nlog.file.level = error\n');
  return {
    HOME: dir,
    RABBITMQ_CONFIG_FILE: join(dir, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(dir, 'plugins'),
    RABBITMQ_NODENAME: `bench-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(await freePort()),
    ERL_EPMD_PORT: String(await freePort()),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_MNESIA_BASE: join(dir, 'mnesia'),
    RABBITMQ_LOG_BASE: join(dir, 'log'),
  };
}

/** PostgreSQL refuses to run as root, so root starts it as the user postgres. */
async function postgresCommand(command: string, dir: string, port: number): Promise<ServerCommand> {
  const uid =
    process.getuid?.() === 0 ? Number(spawnSync('id', ['-u', 'postgres']).stdout.toString()) : undefined;
  const data = join(dir, 'data');
  return {
    command,
    args: ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', dir, '-c', 'synchronous_commit=on'],
    uid,
    prepare: async () => {
      await chmod(dir, 0o755);
      if (uid !== undefined) await chown(dir, uid, uid);
      const made = spawnSync(
        command.replace(/postgres$/, 'initdb'),
        ['-D', data, '-A', 'trust', '-U', 'postgres'],
        {
          stdio: 'ignore',
          uid,
        },
      );
      if (made.status !== 0) throw new Error(`initdb ended with ${made.status}`);
    },
  };
}

function binaryOf(system: string): string | undefined {
  if (system !== 'pg-boss') return BINARIES[system];
  const folder = POSTGRES_FOLDERS.find(
    (one) => spawnSync(join(one, 'postgres'), ['--version']).error === undefined,
  );
  return folder === undefined ? 'postgres' : join(folder, 'postgres');
}

async function waitUntilListening(child: ChildProcess, port: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`);
    if (await accepts(port)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`no server on port ${port} after a minute`);
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  process.kill(-child.pid, 'SIGTERM');
  const timer = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), 10_000);
  await exited;
  clearTimeout(timer);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
