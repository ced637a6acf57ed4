import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { missingSystem } from '../adapters/adapter-registry.js';
import type { Print } from './print.js';

/** Debian's packages of the systems in other languages. */
const languagePackages: Readonly<Record<string, readonly string[]>> = {
  erlang: ['erlang-base'],
  go: ['golang-go'],
  tokio: ['cargo', 'librust-tokio-dev'],
};

const peers = fileURLToPath(new URL('../../peers/', import.meta.url));

function run(file: string, args: readonly string[], folder?: string): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: 'inherit', cwd: folder });
    child.on('error', () => resolve(127));
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Erlang, and the compilers of Go and Rust with tokio, as far as they are missing. */
async function installLanguages(print: Print): Promise<number> {
  const missing = Object.keys(languagePackages).filter((system) => missingSystem(system) !== undefined);
  if (missing.length === 0) {
    print(`${Object.keys(languagePackages).join(', ')}: already installed`);
    return 0;
  }
  const root = process.getuid?.() === 0;
  const apt = spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).error === undefined;
  if (!root || !apt) {
    print(`${missing.join(', ')}: skipped, needs root and apt-get`);
    return 0;
  }
  const packages = missing.flatMap((system) => languagePackages[system] ?? []);
  const install = ['install', '--yes', '--no-install-recommends', ...packages];
  if ((await run('apt-get', install)) === 0) return 0;
  await run('apt-get', ['update']);
  return run('apt-get', install);
}

/**
 * Installs the server programs of the job systems. The suites start them with temporary folders and free
 * ports.
 */
async function installServers(print: Print): Promise<number> {
  const root = process.getuid?.() === 0;
  if (!root || spawnSync('apt-get', ['--version'], { stdio: 'ignore' }).error !== undefined) {
    print('redis, rabbitmq, nats, postgresql: skipped, needs root and apt-get');
    return 0;
  }
  // Runlevel 1 keeps the packages from starting their daemons.
  process.env['RUNLEVEL'] = '1';
  const names = ['redis-server', 'rabbitmq-server', 'nats-server', 'postgresql'];
  return run('apt-get', ['install', '--yes', '--no-install-recommends', ...names]);
}

/**
 * Installs the peers into `bench/peers`, outside the workspace: users and tests of Troupe never download
 * them.
 */
export async function installPeers(print: Print): Promise<number> {
  // package.json has exact versions; a lock file would contain the URL of a registry.
  const args = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--ignore-scripts'];
  const npm = await run('npm', args, peers);
  if (npm !== 0 || !existsSync(fileURLToPath(new URL('node_modules', `file://${peers}`)))) {
    print(`npm install of the peers failed (exit ${npm})`);
    return 1;
  }
  const languages = await installLanguages(print);
  if (languages !== 0)
    print(`apt-get install of Erlang, Go or Rust failed (exit ${languages}); their rows will be skipped`);
  const servers = await installServers(print);
  if (servers !== 0)
    print(`apt-get install of the job servers failed (exit ${servers}); their rows will be skipped`);
  print('peers are installed');
  return 0;
}
