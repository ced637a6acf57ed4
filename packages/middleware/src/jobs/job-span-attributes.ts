import type { Attributes } from '@opentelemetry/api';
import type { JobLabels } from './job-labels.js';

/** The operations on a job, each with its word in the messaging conventions where they have one. */
const OPERATION_TYPES = { send: 'send', run: 'send', deliver: undefined, process: 'process' } as const;

export type JobOperation = keyof typeof OPERATION_TYPES;

export function jobSpanName(operation: JobOperation, labels: JobLabels, exec: string | undefined): string {
  return `${operation} ${String(labels.of(exec)['messaging.destination.name'])}`;
}

export function jobSpanAttributes(
  operation: JobOperation,
  labels: JobLabels,
  exec: string | undefined,
): Attributes {
  const type = OPERATION_TYPES[operation];
  return {
    ...labels.of(exec),
    'messaging.operation.name': operation,
    ...(type === undefined ? {} : { 'messaging.operation.type': type }),
  };
}
