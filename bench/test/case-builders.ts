// Cases, samples and rows for tests of the runner.

import type { ProcessResult } from '#src/runner/process-output.js';
import type { Row } from '#src/runner/report.js';
import type { Case, Measurement } from '#src/runner/suite.js';

export function caseWith(parts: Partial<Case>): Case {
  return {
    benchmark: 'pingpong',
    unit: 'messages',
    systems: ['troupe', 'nact'],
    prepare: () => ({ run: () => Promise.reject(new Error('this case is never run')) }),
    ...parts,
  };
}

export function processOf(...samples: Measurement[]): ProcessResult {
  return { samples };
}

export function sampleOf(seconds: number, parts: Partial<Measurement> = {}): Measurement {
  return { attempted: 100, completed: 100, seconds, ...parts };
}

export function rowWith(parts: Partial<Row>): Row {
  return {
    benchmark: 'pingpong',
    system: 'troupe',
    attempted: 100,
    completed: 100,
    seconds: 1,
    opsPerSecond: 100,
    unit: 'messages',
    headline: 'opsPerSecond',
    low: 90,
    high: 110,
    samples: 5,
    rounds: 1,
    ...parts,
  };
}
