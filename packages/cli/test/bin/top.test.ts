// timeout: 120s, needs: tmux
import { execFileSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { bin, inProcess, lines, ownLeader, ownWorker } from './troupe.js';

const top = suite('top in a terminal');

const SHOWN_WITHIN_MS = 20_000;

/** A terminal of its own, by a tmux server of its own. */
class Tmux implements Disposable {
  private readonly socket = `troupe-test-${process.pid}`;

  constructor(words: readonly string[]) {
    const command = [process.execPath, bin, ...words].map((word) => `'${word}'`).join(' ');
    this.call(
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      '80',
      '-y',
      '24',
      `${command}; echo code $?; sleep 600`,
    );
  }

  resize(columns: number, rows: number): void {
    this.call('resize-window', '-t', '0', '-x', String(columns), '-y', String(rows));
  }

  press(...keys: readonly string[]): void {
    this.call('send-keys', '-t', '0', ...keys);
  }

  /** Resolves with the screen that shows the text. */
  async shows(what: RegExp): Promise<string> {
    const until = Date.now() + SHOWN_WITHIN_MS;
    for (;;) {
      const screen = this.call('capture-pane', '-p', '-t', '0');
      if (what.test(screen)) return screen;
      if (Date.now() > until) throw new Error(`the screen does not show ${what}:\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  private call(...args: readonly string[]): string {
    return execFileSync('tmux', ['-L', this.socket, ...args], { encoding: 'utf8' });
  }

  [Symbol.dispose](): void {
    this.call('kill-server');
  }
}

top('top shows rates, workers and problems, follows the size of its terminal, and ends by q', async () => {
  await using s = await ownLeader();
  const to = ['--leader', s.at];
  const submit = ['submit', 'math.fail', '1', '--attempts', '1', ...to];
  const dead = (await inProcess(submit)).out.trim();
  await inProcess(['submit', 'no.worker', '1', ...to]);
  using terminal = new Tmux(['top', ...to, '--every', '100ms']);
  await terminal.shows(/! 2 due jobs wait and no worker is alive; start one: troupe worker <module>/);
  const worker = await ownWorker(s);
  const small = await terminal.shows(/\nw1\S* +alive +\d+\/\d+/);
  assert.match(small, /accepted\/s +[\d.,]+\/s +[▁▂▃▄▅▆▇█]+\n/);
  assert.is(small.trimEnd().split('\n').length, 24);
  terminal.resize(120, 40);
  const large = await terminal.shows(/(\n[^\n]*){38,}q quit/);
  assert.ok(
    large.split('\n').some((line) => line.length > 80),
    'it uses the width',
  );
  terminal.press('d');
  await terminal.shows(new RegExp(`${dead} +math\\.fail`));
  terminal.press('Enter');
  await terminal.shows(/failure +Error: it never works/);
  terminal.press('e');
  await terminal.shows(/^EXEC +QUEUED +RUNNING +OLDEST/m);
  await terminal.shows(/^no\.worker +1 +0/m);
  terminal.press('Enter');
  const [, waiting] = /^(\S+) +no\.worker/m.exec(await terminal.shows(/^\S+ +no\.worker/m)) ?? [];
  terminal.press('Enter');
  await terminal.shows(new RegExp(`${waiting} waits:\n- no worker serves it`));
  terminal.press('w');
  await terminal.shows(/^workers/m);
  terminal.resize(40, 15);
  const tiny = await terminal.shows(/^w1\S* +alive[^\n]*\n(\n|[^\n]*\n)*.*q quit\n$/m);
  assert.ok(tiny.split('\n').every((row) => row.length <= 40));
  terminal.press('s');
  await terminal.shows(/last durable record \d+/);
  await worker[Symbol.asyncDispose]();
  await s.end();
  await terminal.shows(/the leader is away for \d+ s/);
  terminal.press('q');
  assert.not.match(await terminal.shows(/code 0/), /troupe top/);
});

top('with --json it prints looks; without a terminal it is a usage error', async () => {
  await using s = await ownLeader();
  const looks = lines(
    await inProcess(['top', '--leader', s.at, '--json', '--count', '2', '--every', '100ms']),
  );
  assert.is(looks.length, 2);
  assert.equal(looks[1]?.['problems'], []);
  const ended = await inProcess(['top', '--leader', s.at]);
  assert.is(ended.code, 64);
  assert.match(ended.err, /^troupe: top: this is no terminal; say --json for lines\n$/);
});

top.run();
