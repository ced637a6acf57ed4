import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ratioOf, refusal, rowOf } from '#src/runner/row-summary.js';
import { caseWith, processOf, sampleOf } from '../case-builders.js';

const summary = suite('summary');
const throughput = caseWith({});

summary('a row whose completed work differs from the attempted is refused', () => {
  const short = processOf(sampleOf(1), sampleOf(1, { completed: 99 }));
  assert.is(refusal(throughput, [short]), 'completed 99 of 100 messages');
  const more = processOf(sampleOf(1, { completed: 101 }));
  assert.is(refusal(throughput, [more]), 'completed 101 of 100 messages');
});

summary('a wrong result, no sample and a missing figure are refused', () => {
  assert.match(refusal(throughput, [processOf(sampleOf(1, { oracle: false }))]) ?? '', /oracle/);
  assert.match(refusal(throughput, []) ?? '', /no process gave a sample/);
  assert.match(refusal(throughput, [processOf()]) ?? '', /no process gave a sample/);
  assert.match(refusal(caseWith({ headline: 'p99' }), [processOf(sampleOf(1))]) ?? '', /no figure for p99/);
});

summary('complete and correct work is not refused', () => {
  assert.is(refusal(throughput, [processOf(sampleOf(1, { oracle: true }))]), undefined);
});

summary('a row is the median sample over all processes, whole', () => {
  const row = rowOf(throughput, 'troupe', [
    processOf(sampleOf(1), sampleOf(2)),
    processOf(sampleOf(4), sampleOf(5), sampleOf(3)),
  ]);
  assert.is(row.seconds, 3);
  assert.is(row.opsPerSecond, 100 / 3);
  assert.is(row.opsPerSecond, row.completed / row.seconds);
  assert.is(row.low, 20);
  assert.is(row.high, 100);
  assert.is(row.samples, 5);
  assert.is(row.rounds, 2);
});

summary('with an even number of samples the row is still one that was measured', () => {
  const row = rowOf(throughput, 'troupe', [processOf(sampleOf(1), sampleOf(2))]);
  assert.is(row.seconds, 2);
});

summary('latencies, memory and extra figures are the medians of their own values', () => {
  const row = rowOf(caseWith({ headline: 'p99' }), 'troupe', [
    {
      samples: [
        sampleOf(1, { p50: 1, p99: 9, heapBytes: 10, extra: { turns: 3 } }),
        sampleOf(9, { p50: 3, p99: 5, heapBytes: 30, extra: { turns: 5 } }),
        sampleOf(5, { p50: 2, p99: 7, heapBytes: 20, extra: { turns: 4 } }),
      ],
      rssBytes: 1_000,
    },
  ]);
  assert.is(row.p50, 2);
  assert.is(row.p99, 7);
  assert.is(row.heapBytes, 20);
  assert.is(row['turns'], 4);
  assert.is(row.rssBytes, 1_000);
  assert.is(row.low, 5);
  assert.is(row.high, 9);
});

summary('a ratio above one always means that ours is better', () => {
  const standing = (benchmark: typeof throughput, ...processes: ReturnType<typeof processOf>[]) => ({
    row: rowOf(benchmark, 'x', processes),
    processes,
  });
  const fast = ratioOf(
    throughput,
    standing(throughput, processOf(sampleOf(1))),
    standing(throughput, processOf(sampleOf(4))),
  );
  assert.is(fast.value, 4);
  assert.equal(fast.interval, [4, 4]);
  const lean = caseWith({ headline: 'heapBytes' });
  const small = ratioOf(
    lean,
    standing(lean, processOf(sampleOf(1, { heapBytes: 200 }))),
    standing(lean, processOf(sampleOf(1, { heapBytes: 2_600 }))),
  );
  assert.is(small.value, 13);
  const prompt = caseWith({ headline: 'p99' });
  const late = ratioOf(
    prompt,
    standing(prompt, processOf(sampleOf(1, { p99: 10 }))),
    standing(prompt, processOf(sampleOf(1, { p99: 5 }))),
  );
  assert.is(late.value, 0.5);
});

summary('systems that ran in turns are compared by those turns, not by processes that ran apart', () => {
  const standing = (...processes: ReturnType<typeof processOf>[]) => ({
    row: rowOf(throughput, 'x', processes),
    processes,
  });
  const apart = standing(processOf(sampleOf(1)), processOf(sampleOf(1)), processOf(sampleOf(1)));
  const inTurns = standing(
    processOf(sampleOf(9, { inTurns: 1.1 })),
    processOf(sampleOf(9, { inTurns: 1 }), sampleOf(9, { inTurns: 1.04 }), sampleOf(9, { inTurns: 7 })),
    processOf(sampleOf(9, { inTurns: 0.9 })),
  );
  const ratio = ratioOf(throughput, apart, inTurns);
  assert.is(ratio.value, 1.04);
  assert.equal(ratio.interval, [0.9, 1.1]);
  const mixed = standing(processOf(sampleOf(4, { inTurns: 1.1 })), processOf(sampleOf(4)));
  assert.is(ratioOf(throughput, apart, mixed).value, 4);
});

summary.run();
