import type { SessionRefusedError } from '../jobs-error.js';
import type { AttemptEnd, WorkerHello, WorkerMessage } from '../protocol/worker/worker-messages.js';
import type { Attempt } from './attempt/attempt.js';
import type { RunnerReport } from './runners/runner-port.js';

/** The effects of a worker by name. An effect with an answer names the input that brings it. */
export interface WorkerEffects {
  /** Starts a session with the leader. */
  open(hello: WorkerHello): void;
  /** Without a session the message is lost. */
  write(message: WorkerMessage): void;
  /** Leads to `report`, after every message that has arrived by now: the ends of a burst are one report. */
  requestReport(): void;
  /** Leads to `tick` in so many milliseconds. The latest call replaces earlier ones. */
  startTick(ms: number): void;
  /** The promise of a handler has settled. Leads to `attemptEnded`. */
  settled(attempt: Attempt, end: AttemptEnd): void;
  /** A function of a warm runner has settled. Leads to `runnerReported`. */
  runnerReport(report: RunnerReport): void;
  /** The leader has ended the session. */
  refused(error: SessionRefusedError): void;
  /** After `drain`: no attempt is held any more, or the time is over. */
  drained(): void;
}
