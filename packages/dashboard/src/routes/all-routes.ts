import { DEAD_LETTER_ROUTES } from './dead-letter-routes.js';
import { JOB_ROUTES } from './job-routes.js';
import { LEADER_ROUTES } from './leader-routes.js';
import type { Route } from './route.js';
import { STREAM_ROUTES } from './stream-routes.js';

/** Every route that needs only the client; the document of the API lists these and those of the session. */
export const ROUTES: readonly Route[] = [
  ...JOB_ROUTES,
  ...STREAM_ROUTES,
  ...DEAD_LETTER_ROUTES,
  ...LEADER_ROUTES,
];
