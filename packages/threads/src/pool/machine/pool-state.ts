export type PoolState = 'running' | 'shutting-down' | 'shut-down';
