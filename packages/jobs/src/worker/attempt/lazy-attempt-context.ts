import { jobId } from '../../job/job-id.js';
import type { StreamMetadata } from '../../job/stream-metadata.js';
import type { AttemptContext } from '../handler.js';
import type { Attempt } from './attempt.js';

/** Makes id and signal when a handler first reads them; most handlers do not. */
export class LazyAttemptContext implements AttemptContext {
  private readonly tag: string;
  private readonly current: Attempt;

  constructor(tag: string, current: Attempt) {
    this.tag = tag;
    this.current = current;
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

  /** A function of its own, so that a handler may take it out of its context. */
  get trailer(): (metadata: StreamMetadata) => void {
    return (metadata) => this.current.addMetadata(metadata);
  }

  get signal(): AbortSignal {
    return this.current.signal(this.jobId);
  }
}
