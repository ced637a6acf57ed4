import { BULK_ROUTES } from './job/bulk-routes.js';
import { DEAD_LETTER_ROUTES } from './job/dead-letter-routes.js';
import { INPUT_ROUTES } from './job/input-routes.js';
import { JOB_ROUTES } from './job/job-routes.js';
import { SCHEDULE_ROUTES } from './job/schedule-routes.js';
import { SEARCH_ROUTES } from './job/search-routes.js';
import { STREAM_ROUTES } from './job/stream-routes.js';
import { LEADER_ROUTES } from './operate/leader-routes.js';
import { OPERATOR_ROUTES } from './operate/operator-routes.js';
import { QUEUE_ROUTES } from './operate/queue-routes.js';
import type { Route } from './route.js';

/** Every route that needs only the client; the document of the API lists these and those of the session. */
export const ROUTES: readonly Route[] = [
  ...JOB_ROUTES,
  ...INPUT_ROUTES,
  ...STREAM_ROUTES,
  ...DEAD_LETTER_ROUTES,
  ...BULK_ROUTES,
  ...SEARCH_ROUTES,
  ...QUEUE_ROUTES,
  ...OPERATOR_ROUTES,
  ...SCHEDULE_ROUTES,
  ...LEADER_ROUTES,
];
