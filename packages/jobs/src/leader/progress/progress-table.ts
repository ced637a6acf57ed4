import type { JobProgress } from '../../protocol/client/admin-messages.js';
import {
  type AttemptProgress,
  PROGRESS_LINES_MAX,
  PROGRESS_TEXT_MAX,
} from '../../protocol/worker/progress-messages.js';
import type { LeaderParts } from '../leader-context.js';
import type { WorkerSession } from '../sessions/worker-session.js';

/** Characters of all jobs. Beyond it the job that was silent for the longest time loses its lines. */
const TOTAL_CHARS_MAX = 16 * 1024 * 1024;
/** The cost of an entry beside its texts. */
const ENTRY_CHARS = 200;

interface Line {
  readonly at: number;
  readonly text: string;
}

interface Entry {
  readonly attempt: number;
  share: number | undefined;
  note: string;
  waitsForRunner: string;
  lines: Line[];
  dropped: number;
  at: number;
  chars: number;
}

/** Progress and log lines of the latest attempt of each job. Never in the journal, and bounded. */
export class ProgressTable {
  private readonly context: LeaderParts<'ledger' | 'recordTime'>;
  /** By job, the one that was silent for the longest time first. */
  private readonly entries = new Map<number, Entry>();
  private chars = 0;

  constructor(context: ProgressTable['context']) {
    this.context = context;
  }

  /** Only the holder of the running attempt is believed. */
  take(session: WorkerSession, all: readonly AttemptProgress[]): void {
    for (const progress of all) {
      const lease = this.context.ledger.jobs.get(progress.job)?.lease;
      if (lease?.attempt === progress.attempt && lease.session.name === session.name) this.add(progress);
    }
    this.makeRoom();
  }

  of(job: number): JobProgress | undefined {
    const entry = this.entries.get(job);
    if (entry === undefined) return undefined;
    const { attempt, share, note, lines, dropped, at } = entry;
    return { attempt, share, note, lines: [...lines], dropped, at };
  }

  /** The warm runner that this attempt waits for at its worker. */
  waitsForRunner(job: number, attempt: number): string | undefined {
    const entry = this.entries.get(job);
    return entry?.attempt === attempt && entry.waitsForRunner !== '' ? entry.waitsForRunner : undefined;
  }

  private add({ job, attempt, share, note, waitsForRunner, lines, dropped }: AttemptProgress): void {
    const known = this.entries.get(job);
    const entry = known?.attempt === attempt ? known : newEntry(attempt);
    if (known !== undefined) this.remove(job, known);
    const at = this.context.recordTime;
    entry.at = at;
    if (share !== undefined) entry.share = Math.min(1, Math.max(0, share || 0));
    if (note !== undefined) entry.note = cut(note);
    if (waitsForRunner !== undefined) entry.waitsForRunner = cut(waitsForRunner);
    entry.dropped += dropped;
    for (const text of lines) entry.lines.push({ at, text: cut(text) });
    const excess = entry.lines.length - PROGRESS_LINES_MAX;
    if (excess > 0) {
      entry.lines.splice(0, excess);
      entry.dropped += excess;
    }
    entry.chars = ENTRY_CHARS + entry.note.length;
    for (const { text } of entry.lines) entry.chars += text.length + 16;
    this.chars += entry.chars;
    this.entries.set(job, entry);
  }

  private makeRoom(): void {
    for (const [job, entry] of this.entries) {
      if (this.chars <= TOTAL_CHARS_MAX) return;
      this.remove(job, entry);
    }
  }

  private remove(job: number, entry: Entry): void {
    this.entries.delete(job);
    this.chars -= entry.chars;
  }
}

function newEntry(attempt: number): Entry {
  return { attempt, share: undefined, note: '', waitsForRunner: '', lines: [], dropped: 0, at: 0, chars: 0 };
}

/** A worker of ours has cut it already. */
function cut(text: string): string {
  return text.length > PROGRESS_TEXT_MAX + 1 ? text.slice(0, PROGRESS_TEXT_MAX) : text;
}
