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
  systemFailed,
};

/** `EX_SOFTWARE` of sysexits.h. */
const EXIT_CODE_FAILED = 70;
/** Failed systems whose end no code has looked at. */
const unseen = new Set<symbol>();
let exitCodeBefore: typeof process.exitCode;

function systemFailed(report: string): () => void {
  process.stderr.write(`${report}\n`);
  const failure = Symbol(report.slice(0, 80));
  if (unseen.size === 0) exitCodeBefore = process.exitCode;
  unseen.add(failure);
  process.exitCode ||= EXIT_CODE_FAILED;
  return () => {
    const isLast = unseen.delete(failure) && unseen.size === 0;
    if (isLast && process.exitCode === EXIT_CODE_FAILED) process.exitCode = exitCodeBefore;
  };
}

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
