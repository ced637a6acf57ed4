import type { Host, HostTimer, LogEntry } from './host.js';

const resolved = Promise.resolve();
/** The global is a getter, which costs a third of a clock read. */
const clock = globalThis.performance;

/** The real clock, event loop and console of this Node process. */
export const nodeHost: Host = {
  now: () => clock.now(),
  wallNow: () => Date.now(),
  random: () => Math.random(),
  setTimer: (ms, run) => new NodeTimer(ms, run),
  soon: (run) => {
    // A reaction to a resolved promise costs less than half of queueMicrotask.
    void resolved.then(run);
  },
  later: (run) => {
    setImmediate(run);
  },
  log: writeLine,
};

class NodeTimer implements HostTimer {
  private readonly timer: NodeJS.Timeout;

  constructor(ms: number, run: () => void) {
    this.timer = setTimeout(run, ms);
  }

  cancel(): void {
    clearTimeout(this.timer);
  }

  hold(hold: boolean): void {
    if (hold) this.timer.ref();
    else this.timer.unref();
  }
}

function writeLine(entry: LogEntry): void {
  const line = `${entry.level} ${entry.message}\n`;
  if (entry.level === 'error' || entry.level === 'warn') process.stderr.write(line);
  else process.stdout.write(line);
}
