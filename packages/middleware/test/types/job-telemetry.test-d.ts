// The hooks of jobTelemetry fit an embedded leader and a leader server, and both have an overview to observe.
import type { EmbeddedJobs, EmbeddedOptions, LeaderServer, LeaderServerOptions } from '@troupe/jobs';
import { jobTelemetry, type LeaderOverviewSource } from '@troupe/middleware';

const observed = jobTelemetry();
export const inProcess: EmbeddedOptions = { dir: 'x', ...observed.hooks, wal: { ...observed.logHooks } };
export const served: LeaderServerOptions = {
  dir: 'x',
  onFatal: () => undefined,
  ...observed.hooks,
  wal: { ...observed.logHooks },
};
export const sources = (embedded: EmbeddedJobs, server: LeaderServer): LeaderOverviewSource[] => [
  embedded,
  server,
];
