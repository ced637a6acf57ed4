// Needs of test files: a first line such as `// needs: postgresql` names a thing that must be installed.
import { execFileSync } from 'node:child_process';

/**
 * The command that shows that a thing is there. It must end with 0 within a few seconds and change nothing.
 * @type {Readonly<Record<string, readonly [string, ...string[]]>>}
 */
const PROBES = {
  chromium: ['/usr/bin/chromium', '--version'],
  curl: ['curl', '--version'],
  faketime: ['faketime', '--version'],
  node: ['node', '--version'],
  flock: ['flock', '--version'],
  go: ['go', 'version'],
  'pid-namespaces': ['unshare', '--user', '--map-root-user', '--pid', '--fork', 'true'],
  // Debian keeps the server of each version in a folder of its own.
  postgresql: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/initdb'],
  python3: ['python3', '--version'],
  tmux: ['tmux', '-V'],
  // Rust's tokio from Debian's packages.
  tokio: ['sh', '-c', 'cargo --version && ls -d /usr/share/cargo/registry/tokio-1*'],
  tmpfs: ['unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
};

/** @type {Map<string, string | undefined>} */
const known = new Map();

/**
 * The reason why a need is not met; undefined if it is met.
 * @param {string} need @returns {string | undefined}
 */
function problemOf(need) {
  const probe = PROBES[need];
  if (probe === undefined) return `${need}, which scripts/check/needs.mjs does not know`;
  const [command, ...args] = probe;
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 10_000 });
    return undefined;
  } catch (error) {
    const { code, status } = /** @type {NodeJS.ErrnoException & { status?: number }} */ (error);
    return `${need}: ${command} ${code === 'ENOENT' ? 'is not installed' : `ended with ${status ?? code}`}`;
  }
}

/**
 * The needs of a file that this machine does not meet, each with the reason.
 * @param {readonly string[]} needs @returns {string[]}
 */
export function missingNeeds(needs) {
  return needs.flatMap((need) => {
    if (!known.has(need)) known.set(need, problemOf(need));
    const problem = known.get(need);
    return problem === undefined ? [] : [problem];
  });
}

/**
 * Whether a file with these needs must run: `TROUPE_REQUIRE` names a need of it, or `all`.
 * @param {readonly string[]} needs @param {string} [required]
 */
export function isRequired(needs, required = process.env['TROUPE_REQUIRE'] ?? '') {
  const names = required.split(/[\s,]+/).filter((name) => name !== '');
  return names.includes('all') || needs.some((need) => names.includes(need));
}

/** @param {readonly string[]} needs the unknown ones among them @returns {string[]} */
export function unknownNeeds(needs) {
  return needs.filter((need) => PROBES[need] === undefined);
}
