export { ManualHost } from './manual-host.js';
export {
  createMiddlewareRig,
  type MiddlewareRig,
  type MiddlewareRigOptions,
  type RigHandler,
} from './middleware-rig.js';
export { type Probe, type Recorded, spawnProbe } from './probe.js';
export { seededRandom } from './random.js';
export { StepExecutor } from './step-executor.js';
export { createTestSystem, type TestSystem, type TestSystemOptions } from './test-system.js';
