// Hot path: `submit` runs once per job.
import type { Host } from '@troupe/core';
import type { ClientCalls } from '../client-protocol.js';
import type { CallWait, JobDefine } from '../machine/client-machine.js';
import type { SubmitDraft } from '../machine/submit-draft.js';
import type { CallTable } from './call-table.js';

/** Calls of one moment on their way to the client's actor: one message of each kind, however many calls. */
export class CallOutbox {
  private readonly host: Pick<Host, 'soon'>;
  private readonly calls: ClientCalls;
  private readonly table: CallTable;
  private definitions: JobDefine[] = [];
  private drafts: SubmitDraft[] = [];
  private withdrawn: SubmitDraft[] = [];
  private waits: CallWait[] = [];
  private stopped: CallWait[] = [];
  private isScheduled = false;

  constructor(host: Pick<Host, 'soon'>, calls: ClientCalls, table: CallTable) {
    this.host = host;
    this.calls = calls;
    this.table = table;
  }

  define(definition: JobDefine): void {
    this.definitions.push(definition);
    this.schedule();
  }

  submit(draft: SubmitDraft): void {
    this.drafts.push(draft);
    this.schedule();
  }

  withdraw(draft: SubmitDraft): void {
    this.withdrawn.push(draft);
    this.schedule();
  }

  awaitOutcome(wait: CallWait): void {
    this.waits.push(wait);
    this.schedule();
  }

  stopAwaiting(wait: CallWait): void {
    this.stopped.push(wait);
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    this.host.soon(() => this.flush());
  }

  private flush(): void {
    this.isScheduled = false;
    // The actor may have ended with the client.
    if (this.table.endedBy !== undefined) return;
    const { calls, definitions, drafts, withdrawn, waits, stopped } = this;
    if (definitions.length > 0) {
      this.definitions = [];
      calls.define(definitions);
    }
    if (drafts.length > 0) {
      this.drafts = [];
      // A submit whose caller waits no longer is left out.
      const wanted = withdrawn.length === 0 ? drafts : drafts.filter(({ call }) => this.table.has(call));
      if (wanted.length > 0) calls.submit(wanted);
    }
    if (withdrawn.length > 0) {
      this.withdrawn = [];
      calls.withdraw(withdrawn);
    }
    if (waits.length > 0) {
      this.waits = [];
      calls.awaitOutcomes(waits);
    }
    if (stopped.length > 0) {
      this.stopped = [];
      calls.stopAwaiting(stopped);
    }
  }
}
