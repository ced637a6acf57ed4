import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyDraft, PendingBatch, PendingSubmit } from '#src/client/pending-submits.js';
import { SubmitWindow } from '#src/client/submit-window.js';
import type { ClientMessage, Receipt } from '#src/protocol/client-messages.js';
import { Echo } from '../remote/sample-jobs.js';

const submitWindow = suite('submit window');

const events = { onEntered: () => undefined, onRefused: () => undefined };

function receipt(seq: number): Receipt {
  return { seq, jobs: [seq], lsn: 1, duplicate: false, refusal: undefined };
}

/** A call that records its receipts instead of resolving. */
function submitCall(onReceipt: (receipt: Receipt) => void = () => undefined): PendingSubmit {
  return Object.assign(new PendingSubmit(undefined as never, Echo), { onReceipt });
}

function batchCall(onReceipt: (receipt: Receipt) => void): PendingBatch {
  return Object.assign(new PendingBatch(undefined as never, Echo, [emptyDraft(), emptyDraft()]), {
    onReceipt,
  });
}

function numbers(messages: readonly ClientMessage[]): number[] {
  return messages.flatMap((message) => {
    if (message.kind === 'submit') return message.items.map((item) => item.seq);
    return message.kind === 'submit_all' ? [message.seq] : [];
  });
}

submitWindow('over any loss of connections every submit keeps its number and is answered once', () => {
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('submit', 'batch', 'flush', 'answer', 'disconnect', 'answer twice'),
      pick: fc.nat(50),
    }),
    { maxLength: 120, size: 'max' },
  );
  void fc.assert(
    fc.property(steps, (all) => {
      const window = new SubmitWindow(events);
      const answered: number[] = [];
      let added = 0;
      let atLeader: number[] = [];
      const record = ({ seq }: Receipt): void => void answered.push(seq);
      const answer = (seq: number): void => window.receipts([receipt(seq)]);
      for (const { what, pick } of all) {
        if (what === 'submit' || what === 'batch') added += 1;
        if (what === 'submit') window.enter(submitCall(record));
        if (what === 'batch') window.enter(batchCall(record));
        if (what === 'flush') atLeader.push(...numbers(window.take()));
        if (what === 'answer' && atLeader.length > 0) answer(atLeader[pick % atLeader.length] ?? 1);
        if (what === 'answer twice' && answered.length > 0) answer(answered[pick % answered.length] ?? 1);
        if (what === 'disconnect') atLeader = [];
        if (what === 'disconnect') window.rewind();
      }
      window.rewind();
      for (const seq of numbers(window.take())) answer(seq);
      assert.equal(
        [...answered].sort((a, b) => a - b),
        Array.from({ length: added }, (_, i) => i + 1),
      );
      assert.is(window.outstanding, 0);
      assert.equal(window.take(), []);
    }),
    { numRuns: 300 },
  );
});

submitWindow('the low mark of a message never covers an unanswered submit', () => {
  const window = new SubmitWindow(events);
  for (let i = 0; i < 4; i += 1) window.enter(submitCall());
  window.take();
  window.receipts([receipt(1), receipt(3)]);
  window.enter(submitCall());
  const [message] = window.take();
  assert.is(message?.kind === 'submit' ? message.low : -1, 1);
});

submitWindow('a submit waits while its number would be too far ahead of an unanswered one', async () => {
  const window = new SubmitWindow(events);
  window.aheadMax = 3;
  const calls = Array.from({ length: 5 }, () => submitCall());
  for (const call of calls) window.enter(call);
  const entered = (): number => calls.filter(({ item }) => item.seq !== 0).length;
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  window.take();
  window.receipts([receipt(2), receipt(3)]);
  await turn();
  assert.equal([entered(), window.outstanding], [3, 1]);
  window.receipts([receipt(1)]);
  await turn();
  assert.is(entered(), 5);
});

submitWindow(
  'blocked submits enter in their order as receipts make room; closing rejects the rest',
  async () => {
    const window = new SubmitWindow(events);
    window.outstandingMax = 2;
    const calls = Array.from({ length: 5 }, () => submitCall());
    for (const call of calls) window.enter(call);
    const entered = (): number[] => calls.flatMap(({ item }, index) => (item.seq === 0 ? [] : [index]));
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await turn();
    assert.equal([entered(), window.outstanding], [[0, 1], 2]);
    window.take();
    window.receipts([receipt(1)]);
    await turn();
    assert.equal([entered(), window.outstanding], [[0, 1, 2], 2]);
    const rejected = Promise.allSettled(calls.slice(1).map(({ promise }) => promise));
    window.close(new Error('closed'));
    assert.equal(
      (await rejected).map((result) => result.status === 'rejected' && (result.reason as Error).message),
      ['closed', 'closed', 'closed', 'closed'],
    );
    assert.equal(entered(), [0, 1, 2]);
  },
);

submitWindow.run();
