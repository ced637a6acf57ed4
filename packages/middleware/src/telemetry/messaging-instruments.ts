import type { Counter, Histogram, Meter } from '@opentelemetry/api';

/** Seconds. Finer below than the conventions propose: most handlers take microseconds; some jobs take an hour. */
export const SECONDS: number[] = [
  0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 300, 3_600,
];

// The three instruments that messages and jobs have in common. One name must have one description everywhere, or a
// backend takes the two for a conflict; `messaging.system` tells them apart.

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
