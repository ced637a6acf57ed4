// timeout: 120s, needs: node
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { createSystem, defineActor, exitOn, OptionError } from '@troupe/core';
import { createTestSystem } from '@troupe/core/testing';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const exits = suite('exit of a process');
const program = fileURLToPath(new URL('./exiting-process-main.js', import.meta.url));

/** A process of the program, with its output so far. */
class Exiting {
  readonly out: string[] = [];
  readonly err: string[] = [];
  private readonly child: ChildProcess;
  private readonly ended: Promise<unknown[]>;

  constructor(mode: string) {
    this.child = spawn(process.execPath, [program, mode], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.child.stdout?.on('data', (data: Buffer) => void this.out.push(String(data)));
    this.child.stderr?.on('data', (data: Buffer) => void this.err.push(String(data)));
    this.ended = once(this.child, 'close');
  }

  /** Sends the signal when that text has been printed. */
  async signalAfter(text: string, signal: NodeJS.Signals): Promise<void> {
    while (!this.out.concat(this.err).join('').includes(text)) {
      await Promise.race([
        once(this.child.stdout as NonNullable<ChildProcess['stdout']>, 'data'),
        once(this.child.stderr as NonNullable<ChildProcess['stderr']>, 'data'),
        this.ended.then(() => assert.unreachable(`ended without ${text}: ${this.err.join('')}`)),
      ]);
    }
    this.child.kill(signal);
  }

  /** The exit code, or the signal that ended it. */
  async end(): Promise<unknown> {
    const [code, signal] = await this.ended;
    return code ?? signal;
  }
}

exits(
  'a system that a failure has stopped unseen is reported on stderr, and the exit code is 70',
  async () => {
    for (const mode of ['not seen', 'disposed']) {
      const child = new Exiting(mode);
      assert.is(await child.end(), 70, mode);
      const report = child.err.join('');
      assert.match(
        report,
        /A failure has stopped system printer, and no code has looked at `system\.whenStopped`:/,
      );
      assert.match(report, /Caused by: Error: out of paper\n\s+at /);
      assert.match(report, /Messages before it:\n\s+outside → \/failing\.fail/);
    }
  },
);

exits('the report comes when the system has stopped, also in a process that lives on', async () => {
  const child = new Exiting('not seen, alive');
  await child.signalAfter('A failure has stopped system printer', 'SIGKILL');
  assert.is(await child.end(), 'SIGKILL');
});

exits('a look at `whenStopped` before the end makes the failure the business of the program', async () => {
  const child = new Exiting('seen before');
  assert.is(await child.end(), 0);
  assert.match(child.out.join(''), /cause: .*out of paper/);
  assert.not.match(child.err.join(''), /no code has looked/);
});

exits('a later look takes the exit code back, but not that of another system', async () => {
  assert.is(await new Exiting('seen later').end(), 0);
  assert.is(await new Exiting('one of two seen later').end(), 70);
});

exits('an exit code of the program stays', async () => {
  assert.is(await new Exiting('own exit code').end(), 3);
});

exits('`exitOn` shuts down at a signal and ends the process, whatever keeps it alive', async () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = new Exiting('signal, alive');
    await child.signalAfter('ready', signal);
    assert.is(await child.end(), 0);
    assert.is(child.out.join(''), 'ready\nclosed\n');
  }
});

exits('`exitOn` of two systems ends the process when both have stopped', async () => {
  const child = new Exiting('signal, two systems');
  await child.signalAfter('ready', 'SIGTERM');
  assert.is(await child.end(), 0);
  assert.is(child.out.join(''), 'ready\nclosed 0\nclosed 1500\n');
});

exits('a second signal ends the process at once, with the exit code of that signal', async () => {
  const child = new Exiting('signal, hangs');
  await child.signalAfter('ready', 'SIGTERM');
  await child.signalAfter('drains', 'SIGINT');
  assert.is(await child.end(), 130);
});

exits('a shutdown that leaves something unfinished has exit code 1, one of a failed system 70', async () => {
  const unfinished = new Exiting('signal, unfinished');
  await unfinished.signalAfter('ready', 'SIGTERM');
  assert.is(await unfinished.end(), 1);
  assert.match(unfinished.err.join(''), /warn system slow ended without drain: work did not end within/);
  const failed = new Exiting('signal, failed before');
  await failed.signalAfter('A failure has stopped', 'SIGTERM');
  assert.is(await failed.end(), 70);
});

exits('a disposed `exitOn` listens no more', async () => {
  const child = new Exiting('signal, disposed');
  await child.signalAfter('ready', 'SIGTERM');
  assert.is(await child.end(), 'SIGTERM');
});

exits('`exitOn` refuses what is no list of signals, and unknown options', async () => {
  await using system = createSystem();
  for (const signals of [[], ['SIGTERN'], 'SIGTERM']) {
    assert.throws(
      () => exitOn(system, signals as never),
      (error: unknown) => error instanceof OptionError,
    );
  }
  assert.throws(() => exitOn(system, ['SIGTERM'], { within: 5 } as never), /within/);
});

exits('in virtual time the report is the host’s, and a look takes it back', async () => {
  await using world = createTestSystem({ supervise: { restarts: 0 } });
  const Failing = defineActor('failing', {
    handlers: {
      fail: (): void => {
        throw new Error('x');
      },
    },
  });
  await world.tell(world.system.spawn(Failing)).fail();
  assert.is(world.host.failedSystems.length, 1);
  assert.is((await world.system.whenStopped).cause?.message.endsWith('x'), true);
  assert.equal(world.host.failedSystems, []);
});

exits.run();
