import type { TraceContext } from '@troupe/jobs';
import type { PeerVersion, PeerVersions } from './peer-versions.js';

/** The trace contexts of submits, and those that the handlers of their jobs got. */
export class CarriedTraces {
  private readonly random: () => number;
  private readonly versions: PeerVersions;
  /** By payload: the contexts of its submits, with one entry for all without. */
  private readonly given = new Map<string, Set<string>>();
  /** By job: the context that its first attempt got. */
  private readonly first = new Map<string, string>();
  private count = 0;

  constructor(random: () => number, versions: PeerVersions) {
    this.random = random;
    this.versions = versions;
  }

  /** The context of a submit, which some have. */
  draw(payload: string, version: PeerVersion): { readonly trace?: TraceContext } {
    const isTraced = this.random() < 0.3;
    this.count += 1;
    const traceparent = `00-${String(this.count).padStart(32, 'a')}-${String(this.count).padStart(16, 'b')}-01`;
    const trace = this.random() < 0.3 ? { traceparent, tracestate: `sim=${this.count}` } : { traceparent };
    const given = this.given.get(payload) ?? new Set();
    this.given.set(payload, given.add(isTraced && version.knowsTrace ? textOf(trace) : NONE));
    return isTraced ? { trace } : {};
  }

  /** A handler is called: a problem with the context that it got, or undefined. */
  check(
    { jobId, trace }: { readonly jobId: string; readonly trace: TraceContext | undefined },
    payload: string,
    worker: PeerVersion,
    { leaderForgets }: { readonly leaderForgets: boolean },
  ): string | undefined {
    const got = textOf(trace);
    const mayBeLost = leaderForgets || !worker.knowsTrace || !this.versions.leader.knowsTrace;
    if (got === NONE && mayBeLost) return undefined;
    const given = this.given.get(payload) ?? new Set([NONE]);
    if (!given.has(got)) return `job ${jobId} was submitted with ${[...given]} and runs with ${got}`;
    if (mayBeLost) return undefined;
    const first = this.first.get(jobId) ?? got;
    this.first.set(jobId, first);
    return first === got ? undefined : `job ${jobId} ran with ${first} and runs again with ${got}`;
  }
}

const NONE = 'no trace context';

function textOf(trace: TraceContext | undefined): string {
  return trace === undefined ? NONE : `${trace.traceparent} ${trace.tracestate ?? ''}`;
}
