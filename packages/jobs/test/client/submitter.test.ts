import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Draft, OutstandingBatch, OutstandingJob } from '#src/client/outstanding.js';
import { Submitter } from '#src/client/submitter.js';
import type { ClientMessage, Receipt } from '#src/protocol/client-messages.js';
import { Echo } from '../remote/trial-jobs.js';

const submitter = suite('submitter');

function receipt(seq: number): Receipt {
  return { seq, jobs: [seq], lsn: 1, duplicate: false, refusal: undefined };
}

const caller = { resolve: () => undefined, reject: () => assert.unreachable() };

class Played extends OutstandingJob {
  readonly settled: (receipt: Receipt) => void;

  constructor(settled: (receipt: Receipt) => void) {
    super(false, Echo, caller);
    this.settled = settled;
  }
}

class PlayedBatch extends OutstandingBatch {
  readonly settled: (receipt: Receipt) => void;

  constructor(items: readonly Draft[], settled: (receipt: Receipt) => void) {
    super(items, Echo, caller);
    this.settled = settled;
  }
}

function numbers(messages: readonly ClientMessage[]): number[] {
  return messages.flatMap((message) => {
    if (message.kind === 'submit') return message.items.map((item) => item.seq);
    return message.kind === 'submit_all' ? [message.seq] : [];
  });
}

// A client may lose its connection at any moment: every submit is answered once, under one number, whatever is lost.
submitter('whatever is lost between reconnects, every submit keeps its number and is answered once', () => {
  const steps = fc.array(
    fc.record({
      what: fc.constantFrom('add', 'batch', 'flush', 'answer', 'lose', 'again'),
      pick: fc.nat(50),
    }),
    { maxLength: 120, size: 'max' },
  );
  void fc.assert(
    fc.property(steps, (all) => {
      const one = new Submitter(() => undefined);
      const answered: number[] = [];
      let added = 0;
      let atLeader: number[] = [];
      const draft = () => ({ seq: 0, ref: 1, payload: 'x', key: '', delayMs: 0, wantsOutcome: false });
      const told = ({ seq }: Receipt): void => void answered.push(seq);
      const answer = (seq: number): void => one.receipts([receipt(seq)]);
      for (const { what, pick } of all) {
        if (what === 'add' || what === 'batch') added += 1;
        if (what === 'add') one.add(new Played(told));
        if (what === 'batch') one.addAll(new PlayedBatch([draft(), draft()], told));
        if (what === 'flush') atLeader.push(...numbers(one.take()));
        if (what === 'answer' && atLeader.length > 0) answer(atLeader[pick % atLeader.length] ?? 1);
        if (what === 'again' && answered.length > 0) answer(answered[pick % answered.length] ?? 1);
        if (what === 'lose') atLeader = [];
        if (what === 'lose') one.rewind();
      }
      one.rewind();
      for (const seq of numbers(one.take())) answer(seq);
      assert.equal(
        [...answered].sort((a, b) => a - b),
        Array.from({ length: added }, (_, i) => i + 1),
      );
      assert.is(one.outstanding, 0);
      assert.equal(one.take(), []);
    }),
    { numRuns: 300 },
  );
});

const nobody = (): void => undefined;

submitter('the mark that goes with a message never covers a number without an answer', () => {
  const one = new Submitter(() => undefined);
  for (let i = 0; i < 4; i += 1) one.add(new Played(nobody));
  one.take();
  one.receipts([receipt(1), receipt(3)]);
  one.add(new Played(nobody));
  const [message] = one.take();
  assert.is(message?.kind === 'submit' ? message.low : -1, 1);
});

submitter(
  'whoever waits for room is let in by turns, as many as there is room for, and all at the end',
  async () => {
    const one = new Submitter(() => undefined);
    one.outstandingMax = 2;
    const entered: number[] = [];
    const enter = async (name: number): Promise<void> => {
      while (one.isFull) await one.room();
      one.add(new Played(nobody));
      entered.push(name);
    };
    const all = [1, 2, 3, 4, 5].map(enter);
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    await settle();
    assert.equal([entered, one.outstanding], [[1, 2], 2]);
    one.take();
    one.receipts([receipt(1)]);
    one.letIn();
    await settle();
    assert.equal([entered, one.outstanding], [[1, 2, 3], 2]);
    one.abandon();
    await Promise.all(all.slice(0, 4));
    assert.equal(entered, [1, 2, 3, 4, 5]);
  },
);

submitter.run();
