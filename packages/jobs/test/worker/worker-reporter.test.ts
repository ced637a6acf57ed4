import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { JobsTimers } from '#src/jobs-host.js';
import type { StreamChunks } from '#src/protocol/stream-messages.js';
import { RunTimeEstimate } from '#src/protocol/worker/run-time-estimate.js';
import type { WorkerMessage } from '#src/protocol/worker/worker-messages.js';
import { HandlerSlots } from '#src/worker/credit/handler-slots.js';
import { DEFAULT_WORKER_SETTINGS } from '#src/worker/worker-options.js';
import { WorkerReporter } from '#src/worker/worker-reporter.js';

const reporters = suite('reporter');

/** A reporter on a clock of its own, with the times at which it spoke. */
class ReporterRig {
  readonly reportedAt: number[] = [];
  readonly chunksAt: number[] = [];
  chunks: StreamChunks[] = [];
  timersSet = 0;
  readonly reporter: WorkerReporter;
  private now = 0;
  private timers: { at: number; run: () => void }[] = [];

  constructor() {
    const timers: JobsTimers = {
      now: () => this.now,
      setTimer: (ms, run) => {
        const timer = { at: this.now + ms, run };
        this.timers.push(timer);
        this.timersSet += 1;
        const cancel = (): void => {
          this.timers = this.timers.filter((one) => one !== timer);
        };
        return { cancel };
      },
    };
    const load = { cpu: () => 0, lagMs: () => 0 };
    const slots = new HandlerSlots(
      { settings: DEFAULT_WORKER_SETTINGS, estimate: new RunTimeEstimate(), timers, load },
      () => undefined,
    );
    slots.restart();
    const write = ({ kind }: WorkerMessage): void => {
      if (kind === 'chunks') this.chunksAt.push(this.now);
      else this.reportedAt.push(this.now);
    };
    this.reporter = new WorkerReporter({
      timers,
      load,
      slots,
      write,
      request: () => this.reporter.report(),
      takeRunners: () => undefined,
      takeProgress: () => undefined,
      takeChunks: () => this.chunks.splice(0),
      takeFeedRequests: () => [],
    });
  }

  stream(): void {
    this.chunks.push({ job: 1, attempt: 1, first: this.chunksAt.length, chunks: [] });
    this.reporter.scheduleChunks();
  }

  advance(ms: number): void {
    for (let i = 0; i < ms; i += 1) {
      this.now += 1;
      const due = this.timers.filter((one) => one.at <= this.now);
      this.timers = this.timers.filter((one) => one.at > this.now);
      for (const { run } of due) run();
    }
  }
}

reporters('a heartbeat comes one interval after the last report of any kind', () => {
  const rig = new ReporterRig();
  rig.reporter.open(100);
  rig.advance(40);
  rig.reporter.add({ outcome: 'released', job: 1, attempt: 1 }, 0);
  rig.advance(200);
  assert.equal(rig.reportedAt, [0, 40, 140, 240]);
});

reporters('a report sets no timer, and a closed reporter has none', () => {
  const rig = new ReporterRig();
  rig.reporter.open(100);
  for (let job = 1; job <= 50; job += 1) rig.reporter.add({ outcome: 'released', job, attempt: 1 }, 0);
  assert.is(rig.timersSet, 1);
  rig.reporter.close();
  rig.advance(500);
  assert.is(rig.reportedAt.length, 51);
});

reporters('chunks leave without a report; the heartbeats of a worker that streams go on', () => {
  const rig = new ReporterRig();
  rig.reporter.open(100);
  rig.advance(40);
  rig.stream();
  rig.advance(300);
  assert.equal([rig.chunksAt, rig.reportedAt], [[40], [0, 100, 200, 300]]);
});

reporters('a new session begins with a report, whatever left last in the one before', () => {
  const rig = new ReporterRig();
  rig.reporter.open(100);
  rig.stream();
  rig.reporter.close();
  rig.reporter.restart([]);
  rig.reporter.open(100);
  assert.equal(rig.reportedAt, [0, 0]);
});

reporters.run();
