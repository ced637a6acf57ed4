import { PendingRequests } from '#src/client/machine/pending-requests.js';
import { StreamReaders } from '#src/client/machine/stream-readers.js';
import { SubmitWindow } from '#src/client/machine/submit-window.js';
import { WorkerSession } from '#src/leader/sessions/worker-session.js';
import { Ledger } from '#src/ledger/ledger.js';
import type { AdminAnswer } from '#src/protocol/client/admin-messages.js';
import type { ClientMessage, Receipt } from '#src/protocol/client/client-messages.js';
import { type PlantedBug, swap } from './planted-bugs.js';

/** Bugs that show only between peers of different versions, or with optional fields. */
export const plantedVersionBugs: readonly PlantedBug[] = [
  {
    name: 'assigns a job that streams to a worker without streams',
    plant: () =>
      swap(
        WorkerSession,
        'servesJob',
        (original) =>
          function servesJob(this: WorkerSession, { exec, group }: { exec: string; group: string }) {
            return original.call(this, { exec, group });
          },
      ),
  },
  {
    name: 'reads streams of a leader without streams',
    plant: () =>
      swap(
        StreamReaders,
        'welcomed',
        (original) =>
          function welcomed(this: StreamReaders) {
            return original.call(this, { canStream: true });
          },
      ),
  },
  {
    name: 'repeats a call that the leader does not know',
    plant: () =>
      swap(
        PendingRequests,
        'answered',
        (original) =>
          function answered(
            this: { requests: Map<number, { request: unknown }>; write(message: ClientMessage): void },
            call: number,
            answer: AdminAnswer,
          ) {
            const known = this.requests.get(call);
            if (answer.kind !== 'unsupported' || known === undefined)
              return original.call(this, call, answer);
            const { request } = known;
            return this.write({ kind: 'call', call, request } as ClientMessage);
          },
      ),
  },
  {
    name: 'repeats a submit that was refused for good',
    plant: () =>
      swap(
        SubmitWindow,
        'receipts',
        (original) =>
          function receipts(this: SubmitWindow, items: readonly Receipt[]) {
            const isFinal = ({ refusal }: Receipt): boolean => refusal?.retryAfterMs === 0;
            if (items.some(isFinal)) this.rewind();
            return original.call(
              this,
              items.filter((item) => !isFinal(item)),
            );
          },
      ),
  },
  {
    name: 'forgets the trace context of a job that is tried again',
    plant: () =>
      swap(
        Ledger,
        'requeue',
        (original) =>
          function requeue(this: Ledger, record: { readonly job: number }) {
            this.traces.delete(record.job);
            return original.call(this, record);
          },
      ),
  },
];
