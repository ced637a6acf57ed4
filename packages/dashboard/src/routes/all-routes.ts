import type { AccessGate } from '../access/access-gate.js';
import { documentRoute } from './document-route.js';
import { BULK_ROUTES } from './job/bulk-routes.js';
import { DEAD_LETTER_ROUTES } from './job/dead-letter-routes.js';
import { INPUT_ROUTES } from './job/input-routes.js';
import type { JobDefinitions } from './job/job-definitions.js';
import { JOB_ROUTES } from './job/job-routes.js';
import { OUTPUT_ROUTES } from './job/output-routes.js';
import { SCHEDULE_ROUTES } from './job/schedule-routes.js';
import { SEARCH_ROUTES } from './job/search-routes.js';
import { STREAM_ROUTES } from './job/stream-routes.js';
import { type LiveParts, liveRoute } from './live-route.js';
import { LEADER_ROUTES } from './operate/leader-routes.js';
import { OPERATOR_ROUTES } from './operate/operator-routes.js';
import { QUEUE_ROUTES } from './operate/queue-routes.js';
import type { Route } from './route.js';
import { sessionRoutes } from './session-routes.js';

/** The routes that need only the client. */
export const CLIENT_ROUTES: readonly Route[] = [
  ...JOB_ROUTES,
  ...INPUT_ROUTES,
  ...OUTPUT_ROUTES,
  ...STREAM_ROUTES,
  ...DEAD_LETTER_ROUTES,
  ...BULK_ROUTES,
  ...SEARCH_ROUTES,
  ...QUEUE_ROUTES,
  ...OPERATOR_ROUTES,
  ...SCHEDULE_ROUTES,
  ...LEADER_ROUTES,
];

export interface RouteParts extends LiveParts {
  readonly gate: AccessGate;
  readonly jobs: JobDefinitions;
}

/** Every route of the gateway; the files of the page are beside them. */
export function allRoutes({ gate, jobs, ...live }: RouteParts): readonly Route[] {
  const routes = [...CLIENT_ROUTES, ...sessionRoutes(gate), liveRoute(live)];
  return [...routes, documentRoute(routes, jobs)];
}
