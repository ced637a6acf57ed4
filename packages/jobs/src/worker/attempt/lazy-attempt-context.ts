import type { JobDefinition } from '../../job/definition/define-job.js';
import { jobId } from '../../job/job-id.js';
import type { TraceContext } from '../../job/trace-context.js';
import type { Trailer } from '../../job/trailer.js';
import { AttemptFeed, type JobFeed } from '../feed/job-feed.js';
import type { AttemptContext } from '../handlers/handler.js';
import type { Attempt } from './attempt.js';
import { snooze } from './snooze.js';

/** Makes id, signal and methods when a handler first reads them; most handlers do not. */
export class LazyAttemptContext implements AttemptContext {
  /** Set before the handler is called. */
  loaded: unknown = undefined;
  /** It is the value of a warm runner. */
  hasInstance = false;
  private readonly tag: string;
  private readonly current: Attempt;
  private readonly job: JobDefinition;
  private attemptFeed: AttemptFeed | undefined = undefined;

  constructor(tag: string, current: Attempt, job: JobDefinition) {
    this.tag = tag;
    this.current = current;
    this.job = job;
  }

  useInstance(loaded: unknown): void {
    this.loaded = loaded;
    this.hasInstance = true;
  }

  get jobId(): string {
    return jobId(this.tag, this.current.job);
  }

  get attempt(): number {
    return this.current.number;
  }

  get client(): string {
    return this.current.client;
  }

  get signal(): AbortSignal {
    return this.current.signal(this.jobId);
  }

  get feed(): JobFeed<unknown> {
    this.attemptFeed ??= new AttemptFeed(this.current, this.job);
    return this.attemptFeed;
  }

  get trace(): TraceContext | undefined {
    return this.current.trace;
  }

  get progress(): (share: number, note?: string) => void {
    return (share, note) => this.current.setProgress(share, note);
  }

  get log(): (line: string) => void {
    return (line) => this.current.addLine(line);
  }

  get trailer(): (metadata: Trailer) => void {
    return (metadata) => this.current.addTrailer(metadata);
  }

  get snooze(): (delayMs: number) => never {
    return snooze;
  }
}
