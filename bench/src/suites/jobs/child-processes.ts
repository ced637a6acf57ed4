import type { ChildProcess } from 'node:child_process';

export function firstMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a process of the trial exited with ${code}`)));
  });
}

export async function untilStarted(child: ChildProcess): Promise<ChildProcess> {
  await firstMessage(child);
  return child;
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exited;
}
