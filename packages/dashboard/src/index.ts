export type { AccessToken } from './access/access-tokens.js';
export type { Role } from './access/role.js';
export type { Dashboard, RequestOrigin } from './dashboard.js';
export { dashboard } from './dashboard.js';
export type { DashboardOptions } from './dashboard-options.js';
export type { ServeOptions } from './node-serve-dashboard.js';
export { DashboardServer, serveDashboard } from './node-serve-dashboard.js';
