import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { AuditTrail } from '#src/ledger/audit/audit-trail.js';

const trail = suite('audit trail');

trail('the latest ten thousand acts are kept, with their numbers', () => {
  const acts = new AuditTrail();
  for (let at = 1; at <= 10_003; at += 1)
    acts.add({ at, by: 'ann', action: 'cancel', target: `${at}`, detail: '' });
  const kept = [...acts.entries()];
  assert.equal([kept.length, kept[0]?.no, kept[0]?.target, kept.at(-1)?.no], [10_000, 4, '4', 10_003]);
});

trail.run();
