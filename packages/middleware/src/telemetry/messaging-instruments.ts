import type { Counter, Histogram, Meter } from '@opentelemetry/api';

/**
 * Bucket bounds in seconds, finer than those of the conventions: most handlers take microseconds, some jobs
 * an hour.
 */
export const SECONDS: number[] = [
  0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 3_600,
];

// The three instruments that messages and jobs share. One name needs one description everywhere, else a
// backend reports a conflict; the label `messaging.system` separates the two.

export function sentMessages(meter: Meter): Counter {
  return meter.createCounter('messaging.client.sent.messages', {
    unit: '{message}',
    description: 'Messages put into a mailbox, jobs accepted by a leader.',
  });
}

export function consumedMessages(meter: Meter): Counter {
  return meter.createCounter('messaging.client.consumed.messages', {
    unit: '{message}',
    description: 'Messages taken from a mailbox for good, attempts given to a worker.',
  });
}

export function processDuration(meter: Meter): Histogram {
  return meter.createHistogram('messaging.process.duration', {
    unit: 's',
    description: 'From the start of a handler until it has returned or settled; one attempt of a job.',
    advice: { explicitBucketBoundaries: SECONDS },
  });
}
