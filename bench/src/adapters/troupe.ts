import type { Adapter } from './system.js';
export function troupe(core?: string): Adapter {
  throw new Error(`core is not there yet ${core}`);
}
