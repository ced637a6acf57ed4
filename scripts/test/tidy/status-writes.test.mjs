import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checkStatusWrites } from '../../tidy/status-writes.mjs';
import { Tree } from '../../tidy/tree.mjs';

const statusWrites = suite('status writes');

/** @param {string} text @param {string} [file] */
function count(text, file = 'packages/core/src/lifecycle/stop-sequence.ts') {
  return checkStatusWrites(Tree.of({ [file]: text })).length;
}

for (const text of [
  'cell.status = IDLE;',
  'cell.status |= AWAITING;',
  'cell.status &= ~AWAITING;',
  'cell.status += SUSPENSION;',
  'cell.status -= SUSPENSION;',
  'cell.status++;',
  'this.cell.status =\n    FENCED | CLOSED;',
]) {
  statusWrites(`finds ${text}`, () => assert.is(count(text), 1));
}

for (const text of [
  'if (cell.status === IDLE) return;',
  'if ((cell.status & AWAITING) !== 0) return;',
  'const { status } = cell;',
  'const status = cell.status;',
  'const late = cell.status >= CLOSED;',
  '// cell.status = IDLE',
  'const statusOf = (cell) => cell.status;',
]) {
  statusWrites(`lets ${text} pass`, () => assert.is(count(text), 0));
}

statusWrites('the mailbox, delivery and the invoker write it', () => {
  for (const file of ['mailbox/mailbox.ts', 'mailbox/delivery.ts', 'invoker/message-invoker.ts'])
    assert.is(count('mailbox.status = IDLE;', `packages/core/src/${file}`), 0, file);
  assert.is(count('mailbox.status = IDLE;', 'packages/core/src/lifecycle/suspensions.ts'), 1);
});

statusWrites('other packages have words of their own', () => {
  assert.is(count('job.status = 1;', 'packages/jobs/src/ledger/ledger.ts'), 0);
});

statusWrites.run();
