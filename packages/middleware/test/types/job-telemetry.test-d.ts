// The sides of jobTelemetry fit the leaders, workers and clients of @troupe/jobs; a leader has an overview to observe.
import type {
  AttemptContext,
  ConnectClientOptions,
  EmbeddedClientOptions,
  EmbeddedJobs,
  EmbeddedOptions,
  EmbeddedWorkerOptions,
  LeaderServer,
  LeaderServerOptions,
  StartWorkerOptions,
  SubmitOptions,
} from '@troupe/jobs';
import { contextOfTrace, jobTelemetry, type LeaderOverviewSource } from '@troupe/middleware';

const observed = jobTelemetry();
export const inProcess: EmbeddedOptions = { dir: 'x', ...observed.leader, wal: { ...observed.log } };
export const served: LeaderServerOptions = {
  dir: 'x',
  onFatal: () => undefined,
  ...observed.leader,
  wal: { ...observed.log },
};
export const sources = (embedded: EmbeddedJobs, server: LeaderServer): LeaderOverviewSource[] => [
  embedded,
  server,
];

export const client: EmbeddedClientOptions = { ...observed.client };
export const remoteClient: ConnectClientOptions = { address: { port: 1 }, ...observed.client };
export const worker: EmbeddedWorkerOptions = { handlers: [], ...observed.worker };
export const remoteWorker: StartWorkerOptions = {
  address: { port: 1 },
  name: 'w',
  handlers: [],
  ...observed.worker,
};

export const inContext = ({ trace }: AttemptContext): unknown => contextOfTrace(trace);
export const given: SubmitOptions = {
  trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
};
// @ts-expect-error a trace context has a traceparent
export const without: SubmitOptions = { trace: { tracestate: 'a=1' } };
