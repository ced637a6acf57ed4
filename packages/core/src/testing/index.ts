export { type ExploreOptions, explore, type Scenario } from './explore/explore.js';
export { CrashedError, ExploreError, InvariantError, StuckWorldError } from './explore/explore-errors.js';
export type { ExploredWorld } from './explore/explored-world.js';
export { ManualHost } from './manual-host.js';
export {
  createMiddlewareRig,
  type MiddlewareRig,
  type MiddlewareRigOptions,
  type RigHandler,
} from './middleware-rig.js';
export type { Probe, ProbedMessage, ProbeOptions } from './probe.js';
export { SeededRandom } from './seeded-random.js';
export { StepExecutor } from './step-executor.js';
export { createTestSystem, type TestSystem, type TestSystemOptions } from './test-system.js';
export { PendingPromiseError, ProbeError, UnansweredError, UnsettledWorldError } from './testing-errors.js';
export { UncrossableError } from './threads/crossing-copy.js';
export { VirtualThreads, type VirtualThreadsOptions, virtualThreads } from './threads/virtual-threads.js';
