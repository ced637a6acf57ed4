import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ratioOf, refusalReason, rowOf } from '#src/runner/row-summary.js';
import { caseWith, processOf, sampleOf } from '../case-builders.js';

const summary = suite('row-summary');
const throughput = caseWith({});

summary('a row with fewer or more completed than attempted units is refused', () => {
  const short = processOf(sampleOf(1), sampleOf(1, { completed: 99 }));
  assert.is(refusalReason(throughput, [short]), 'completed 99 of 100 messages');
  const more = processOf(sampleOf(1, { completed: 101 }));
  assert.is(refusalReason(throughput, [more]), 'completed 101 of 100 messages');
});

summary('a wrong result, no samples and a missing headline number are refused', () => {
  assert.match(refusalReason(throughput, [processOf(sampleOf(1, { oracle: false }))]) ?? '', /oracle/);
  assert.match(refusalReason(throughput, []) ?? '', /no process gave a sample/);
  assert.match(refusalReason(throughput, [processOf()]) ?? '', /no process gave a sample/);
  assert.match(
    refusalReason(caseWith({ headline: 'p99' }), [processOf(sampleOf(1))]) ?? '',
    /no number for p99/,
  );
});

summary('complete and correct work is not refused', () => {
  assert.is(refusalReason(throughput, [processOf(sampleOf(1, { oracle: true }))]), undefined);
});

summary('a row is the median sample of all processes as a whole', () => {
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

summary('with an even number of samples the row is a measured sample, not a mean', () => {
  const row = rowOf(throughput, 'troupe', [processOf(sampleOf(1), sampleOf(2))]);
  assert.is(row.seconds, 2);
});

summary('latencies, memory and extra numbers are the medians of their own values', () => {
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

summary('a ratio above one means that ours is better, for every headline number', () => {
  const resultOf = (benchmark: typeof throughput, ...processes: ReturnType<typeof processOf>[]) => ({
    row: rowOf(benchmark, 'x', processes),
    processes,
  });
  const fast = ratioOf(
    throughput,
    resultOf(throughput, processOf(sampleOf(1))),
    resultOf(throughput, processOf(sampleOf(4))),
  );
  assert.is(fast.value, 4);
  assert.equal(fast.interval, [4, 4]);
  const lean = caseWith({ headline: 'heapBytes' });
  const small = ratioOf(
    lean,
    resultOf(lean, processOf(sampleOf(1, { heapBytes: 200 }))),
    resultOf(lean, processOf(sampleOf(1, { heapBytes: 2_600 }))),
  );
  assert.is(small.value, 13);
  const prompt = caseWith({ headline: 'p99' });
  const late = ratioOf(
    prompt,
    resultOf(prompt, processOf(sampleOf(1, { p99: 10 }))),
    resultOf(prompt, processOf(sampleOf(1, { p99: 5 }))),
  );
  assert.is(late.value, 0.5);
});

summary('paired ratios of one process take precedence over ratios between processes', () => {
  const resultOf = (...processes: ReturnType<typeof processOf>[]) => ({
    row: rowOf(throughput, 'x', processes),
    processes,
  });
  const apart = resultOf(processOf(sampleOf(1)), processOf(sampleOf(1)), processOf(sampleOf(1)));
  const paired = resultOf(
    processOf(sampleOf(9, { pairedRatio: 1.1 })),
    processOf(
      sampleOf(9, { pairedRatio: 1 }),
      sampleOf(9, { pairedRatio: 1.04 }),
      sampleOf(9, { pairedRatio: 7 }),
    ),
    processOf(sampleOf(9, { pairedRatio: 0.9 })),
  );
  const ratio = ratioOf(throughput, apart, paired);
  assert.is(ratio.value, 1.04);
  assert.equal(ratio.interval, [0.9, 1.1]);
  const mixed = resultOf(processOf(sampleOf(4, { pairedRatio: 1.1 })), processOf(sampleOf(4)));
  assert.is(ratioOf(throughput, apart, mixed).value, 4);
});

summary.run();
