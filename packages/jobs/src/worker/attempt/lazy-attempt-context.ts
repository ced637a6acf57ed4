import { jobId } from '../../job/job-id.js';
import type { TraceContext } from '../../job/trace-context.js';
import type { Trailer } from '../../job/trailer.js';
import type { AttemptContext } from '../handler.js';
import type { Attempt } from './attempt.js';

/** Makes id, signal and methods when a handler first reads them; most handlers do not. */
export class LazyAttemptContext implements AttemptContext {
  /** Set before the handler is called. */
  loaded: unknown = undefined;
  /** It is the value of a warm runner. */
  hasInstance = false;
  private readonly tag: string;
  private readonly current: Attempt;

  constructor(tag: string, current: Attempt) {
    this.tag = tag;
    this.current = current;
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

  get trace(): TraceContext | undefined {
    return this.current.trace;
  }

  get trailer(): (metadata: Trailer) => void {
    return (metadata) => this.current.addTrailer(metadata);
  }
}
