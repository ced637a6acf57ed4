import { SubmittedKeys } from '@troupe/jobs/journal';

/**
 * Rows of the outbox whose jobs are on their way to the log. The statement that appends a job deletes its
 * row, so that neither is there without the other.
 */
export class TakenRows {
  private readonly rows = new Map<string, number>();
  private submitted: SubmittedKeys | undefined = undefined;

  /** The client that submits the rows from now on. */
  ofClient(token: string): void {
    this.submitted = new SubmittedKeys(token);
    this.rows.clear();
  }

  add(key: string, id: number): void {
    this.rows.set(key, id);
  }

  /** The submit was answered: an append that is still to come is not of this row. */
  remove(key: string): void {
    this.rows.delete(key);
  }

  /** The rows of the jobs in these entries. */
  in(entries: readonly Uint8Array[]): number[] {
    if (this.rows.size === 0 || this.submitted === undefined) return [];
    const ids: number[] = [];
    for (const entry of entries)
      for (const key of this.submitted.in(entry)) {
        const id = this.rows.get(key);
        if (id !== undefined) ids.push(id);
      }
    return ids;
  }
}
