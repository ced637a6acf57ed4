// A program with a time limit, in a process group of its own, so that nothing it started outlives it.
import { spawn } from 'node:child_process';

/**
 * @typedef {object} Ending
 * @property {number | null} code
 * @property {string} output
 * @property {boolean} timedOut
 * @property {number} seconds
 */

const outputCharsMax = 64_000;
const drainMs = 1_000;

/** Groups now running; a runner that is itself stopped takes them along. @type {Set<number>} */
const groups = new Set();

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    for (const pid of groups) killGroup(pid);
    process.exit(130);
  });
}

/**
 * @param {string} program @param {string[]} args
 * @param {{ cwd: string, timeoutMs: number }} options
 * @returns {Promise<Ending>}
 */
export function runLimited(program, args, { cwd, timeoutMs }) {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const pid = child.pid ?? 0;
    if (pid !== 0) groups.add(pid);
    let output = '';
    let timedOut = false;
    const keep = (/** @type {Buffer} */ bytes) => {
      output = (output + bytes).slice(-outputCharsMax);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const limit = setTimeout(() => {
      timedOut = true;
      killGroup(pid);
    }, timeoutMs);
    child.on('error', (error) => {
      clearTimeout(limit);
      resolve({ code: null, output: `${error.message}\n`, timedOut, seconds: 0 });
    });
    child.on('exit', (code) => {
      clearTimeout(limit);
      killGroup(pid);
      groups.delete(pid);
      const seconds = (performance.now() - startedAt) / 1000;
      const finish = () => resolve({ code, output, timedOut, seconds });
      // A grandchild that left the group may hold the pipes open: the pipes are not waited for without a limit.
      const closeLimit = setTimeout(finish, drainMs);
      child.on('close', () => {
        clearTimeout(closeLimit);
        finish();
      });
    });
  });
}

/** @param {number} pid */
function killGroup(pid) {
  if (pid === 0) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error;
  }
}
