import { BULK_ROUTES } from './bulk-routes.js';
import { DEAD_LETTER_ROUTES } from './dead-letter-routes.js';
import { INPUT_ROUTES } from './input-routes.js';
import { JOB_ROUTES } from './job-routes.js';
import { LEADER_ROUTES } from './leader-routes.js';
import { OPERATOR_ROUTES } from './operator-routes.js';
import { QUEUE_ROUTES } from './queue-routes.js';
import type { Route } from './route.js';
import { SCHEDULE_ROUTES } from './schedule-routes.js';
import { SEARCH_ROUTES } from './search-routes.js';
import { STREAM_ROUTES } from './stream-routes.js';

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
