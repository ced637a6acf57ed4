import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emptyDraft, emptyItem, type SubmitDraft } from '#src/client/machine/submit-draft.js';
import { SubmitWindow } from '#src/client/machine/submit-window.js';
import type { ClientMessage, Receipt } from '#src/protocol/client/client-messages.js';

const submitWindow = suite('submit window');

function receipt(seq: number): Receipt {
  return { seq, jobs: [seq], lsn: 1, duplicate: false, refusal: undefined };
}

const NO_OUTCOME = { wantsOutcome: false };

function draft(): SubmitDraft {
  return emptyDraft(1, NO_OUTCOME);
}

function batch(): SubmitDraft {
  return emptyDraft(1, NO_OUTCOME, [emptyItem(), emptyItem()]);
}

function ignore(): void {}

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
      const answered: number[] = [];
      const window = new SubmitWindow(({ seq }) => answered.push(seq));
      let added = 0;
      let atLeader: number[] = [];
      const answer = (seq: number): void => window.receipts([receipt(seq)]);
      for (const { what, pick } of all) {
        if (what === 'submit' || what === 'batch') added += 1;
        if (what === 'submit') window.enter(draft());
        if (what === 'batch') window.enter(batch());
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

submitWindow('submits that the next leader takes in no message are refused, and the others go on', () => {
  const refused: [number, string | undefined][] = [];
  const window = new SubmitWindow(({ call }, { refusal }) => refused.push([call, refusal?.code]));
  window.outstandingMax = 3;
  const bytes = [100, 20_000_000, 5_000_000, 100, 20_000_000, 200];
  for (const [index, length] of bytes.entries())
    window.enter({ ...emptyDraft(index + 1, NO_OUTCOME), payload: 'x'.repeat(length) });
  assert.equal(numbers(window.take()), [1, 2, 3]);
  window.rewind();
  // A message may always have 11 MiB.
  window.refuseLarger(1_000);
  assert.equal(refused, [
    [2, 'ERR_PAYLOAD_TOO_LARGE'],
    [5, 'ERR_PAYLOAD_TOO_LARGE'],
  ]);
  assert.equal(numbers(window.take()), [1, 3, 4]);
  window.receipts([receipt(1), receipt(3), receipt(4)]);
  assert.equal(numbers(window.take()), [5]);
  window.receipts([receipt(5)]);
  assert.is(window.outstanding, 0);
});

submitWindow('the low mark of a message never covers an unanswered submit', () => {
  const window = new SubmitWindow(ignore);
  for (let i = 0; i < 4; i += 1) window.enter(draft());
  window.take();
  window.receipts([receipt(1), receipt(3)]);
  window.enter(draft());
  const [message] = window.take();
  assert.is(message?.kind === 'submit' ? message.low : -1, 1);
});

submitWindow('a submit waits while its number would be too far ahead of an unanswered one', () => {
  const window = new SubmitWindow(ignore);
  window.aheadMax = 3;
  const drafts = Array.from({ length: 5 }, () => draft());
  for (const one of drafts) window.enter(one);
  const entered = (): number => drafts.filter(({ seq }) => seq !== 0).length;
  window.take();
  window.receipts([receipt(2), receipt(3)]);
  window.take();
  assert.equal([entered(), window.outstanding], [3, 1]);
  window.receipts([receipt(1)]);
  window.take();
  assert.is(entered(), 5);
});

submitWindow('waiting submits enter in their order as receipts make room; withdrawn ones do not', () => {
  const window = new SubmitWindow(ignore);
  window.outstandingMax = 2;
  const drafts = Array.from({ length: 6 }, () => draft());
  for (const one of drafts) window.enter(one);
  const entered = (): number[] => drafts.flatMap(({ seq }, index) => (seq === 0 ? [] : [index]));
  window.take();
  assert.equal([entered(), window.outstanding], [[0, 1], 2]);
  window.withdraw(drafts[2] as SubmitDraft);
  window.receipts([receipt(1)]);
  assert.equal(numbers(window.take()), [3]);
  assert.equal([entered(), window.outstanding], [[0, 1, 3], 2]);
  // A later submit does not pass those that wait.
  window.enter(draft());
  window.receipts([receipt(2)]);
  assert.equal(numbers(window.take()), [4]);
  assert.equal(entered(), [0, 1, 3, 4]);
});

submitWindow.run();
