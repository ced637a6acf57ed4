import type { SeededRandom } from '@troupe/core/testing';
import type { PoolMachine } from '#src/pool/machine/pool-machine.js';
import type { PoolThreads } from '#src/pool/machine/pool-threads.js';
import type { PoolWorker } from '#src/pool/machine/pool-worker.js';
import type { PoolTask, TaskEnd } from '#src/pool/task/pool-task.js';

interface FakeThread {
  readonly worker: PoolWorker;
  isUp: boolean;
  isEnding: boolean;
  /** Tasks in the order of their arrival; those that were withdrawn are gone. */
  inbox: PoolTask[];
  /** At work: taken up, not reported yet. */
  atWork: PoolTask | undefined;
  /** Ends that the thread has reported and the pool has not read. */
  readonly reports: { readonly task: PoolTask; readonly end: TaskEnd }[];
}

/** Threads without threads: each step of one is an action that a test or a seed chooses. */
export class FakePoolThreads implements PoolThreads {
  readonly threads = new Map<PoolWorker, FakeThread>();
  readonly cancelled: PoolTask[] = [];
  /** Tasks in the order in which threads took them up. */
  readonly begun: PoolTask[] = [];
  startsFail = false;
  /** Tasks that were taken back, and those that a thread had taken up before. */
  withdrawn = 0;
  takenUp = 0;

  start(worker: PoolWorker): void {
    if (this.startsFail) throw new Error('no thread can be created');
    this.threads.set(worker, {
      worker,
      isUp: false,
      isEnding: false,
      inbox: [],
      atWork: undefined,
      reports: [],
    });
  }

  run(worker: PoolWorker, task: PoolTask): void {
    const thread = this.thread(worker);
    if (!thread.isUp) throw new Error(`${worker.name} got a task before it was up`);
    thread.inbox.push(task);
  }

  stage(worker: PoolWorker, task: PoolTask): void {
    this.run(worker, task);
  }

  withdraw(worker: PoolWorker, task: PoolTask): boolean {
    const { inbox } = this.thread(worker);
    const at = inbox.indexOf(task);
    if (at === -1) {
      this.takenUp += 1;
      return false;
    }
    this.withdrawn += 1;
    inbox.splice(at, 1);
    return true;
  }

  cancel(_worker: PoolWorker, task: PoolTask): void {
    this.cancelled.push(task);
  }

  end(worker: PoolWorker): void {
    this.thread(worker).isEnding = true;
  }

  // --- actions of threads ---

  up(worker: PoolWorker, machine: PoolMachine, now: number): void {
    this.thread(worker).isUp = true;
    machine.up(worker, now);
  }

  /** The thread takes its next task up. */
  claim(worker: PoolWorker): void {
    const thread = this.thread(worker);
    if (thread.atWork !== undefined || thread.isEnding) return;
    thread.atWork = thread.inbox.shift();
    if (thread.atWork !== undefined) this.begun.push(thread.atWork);
  }

  /** The thread ends its task and writes the report. */
  complete(worker: PoolWorker, end: TaskEnd = 'completed'): void {
    const thread = this.thread(worker);
    if (thread.atWork === undefined) return;
    thread.reports.push({ task: thread.atWork, end });
    thread.atWork = undefined;
  }

  /** The pool reads one report. */
  deliver(worker: PoolWorker, machine: PoolMachine, now: number): PoolTask | undefined {
    const report = this.thread(worker).reports.shift();
    if (report === undefined) return undefined;
    return machine.finished(worker, report.task, report.end, now) ? report.task : undefined;
  }

  /** The thread is gone; the pool reads its last reports, then learns of its end. */
  die(worker: PoolWorker, machine: PoolMachine, now: number, delivered: (task: PoolTask) => void): void {
    for (;;) {
      const { reports } = this.thread(worker);
      if (reports.length === 0) break;
      const task = this.deliver(worker, machine, now);
      if (task !== undefined) delivered(task);
    }
    machine.ended(worker, new Error(`${worker.name} ended`), now);
    this.threads.delete(worker);
  }

  pick(random: SeededRandom, where: (thread: FakeThread) => boolean): PoolWorker | undefined {
    const found = [...this.threads.values()].filter(where);
    return found.length === 0 ? undefined : found[random.below(found.length)]?.worker;
  }

  private thread(worker: PoolWorker): FakeThread {
    const thread = this.threads.get(worker);
    if (thread === undefined) throw new Error(`${worker.name} is not there`);
    return thread;
  }
}
