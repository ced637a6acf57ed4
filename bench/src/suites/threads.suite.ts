import type { Suite } from '../runner/suite.js';
import { missingPool, poolCases, poolSystems } from './threads/pool-cases.js';

export const suite: Suite = {
  name: 'threads',
  title: 'threads: tasks of a thread pool',
  systems: poolSystems,
  cases: poolCases,
  missing: missingPool,
};
