import { openapiDocument } from '../openapi/openapi-document.js';
import type { JobDefinitions } from './job/job-definitions.js';
import { json, jsonBody, type Route } from './route.js';
import { ANY_VALUE } from './schemas.js';

/** The document of the other routes, and of itself. */
export function documentRoute(others: readonly Route[], jobs: JobDefinitions): Route {
  const route: Route = {
    method: 'get',
    path: '/api/openapi.json',
    role: undefined,
    summary: 'This document.',
    answers: { '200': jsonBody('OpenAPI 3.1.', ANY_VALUE) },
    serve: () => json(document),
  };
  const document = openapiDocument([...others, route], jobs.given);
  return route;
}
