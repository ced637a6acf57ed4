import type { WaitReason } from '@troupe/jobs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { explanationLines } from '#src/output/text/explanation-text.js';

const explanation = suite('explanation text');

const idOf = (job: number): string => `id-${job}`;

explanation('a reason and a state that this version does not know are printed as they came', () => {
  const later = { kind: 'moon-phase', leftMs: 5 } as unknown as WaitReason;
  const waits = { job: 1, state: 'queued', detail: '', reasons: [later], estimateMs: undefined } as const;
  assert.equal(explanationLines('id-1', waits, idOf), [
    'id-1 waits:',
    '- {"kind":"moon-phase","leftMs":5}',
    'no estimate: no job of its queue has begun lately',
  ]);
  const hibernating = { ...waits, state: 'hibernating' as 'queued', reasons: [] };
  assert.equal(explanationLines('id-1', hibernating, idOf), ['id-1 is hibernating']);
});

explanation.run();
