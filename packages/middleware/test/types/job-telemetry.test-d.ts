// What jobTelemetry gives fits a leader in this process and one with a port, and both can be watched.
import type { EmbeddedJobs, EmbeddedOptions, LeaderServer, LeaderServerOptions } from '@troupe/jobs';
import { type JobsSource, jobTelemetry } from '@troupe/middleware';

const observed = jobTelemetry();
export const inProcess: EmbeddedOptions = { dir: 'x', ...observed.hooks, wal: { ...observed.logHooks } };
export const served: LeaderServerOptions = {
  dir: 'x',
  onFatal: () => undefined,
  ...observed.hooks,
  wal: { ...observed.logHooks },
};
export const sources = (embedded: EmbeddedJobs, server: LeaderServer): JobsSource[] => [embedded, server];
