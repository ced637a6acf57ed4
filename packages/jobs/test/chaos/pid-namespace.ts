import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const NAMESPACE = ['--pid', '--fork', '--kill-child', '--mount-proc'];

/**
 * The words that start a process in a pid namespace of its own, as in a second container. The process does not
 * find flock(1), so that the lock of the kernel does not refuse it.
 */
export async function pidNamespace(): Promise<readonly string[] | { readonly reason: string }> {
  let reason = '';
  for (const user of [[], ['--user', '--map-root-user']]) {
    const words = ['unshare', ...user, ...NAMESPACE];
    try {
      await run('env', [...words, 'true']);
      return ['env', ...words, 'env', 'PATH=/nonexistent'];
    } catch (error) {
      const { stderr = '', message } = error as Error & { stderr?: string };
      reason = (stderr === '' ? message : stderr).split('\n')[0] ?? '';
    }
  }
  return { reason };
}
