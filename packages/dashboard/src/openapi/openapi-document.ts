import type { JobDefinition } from '@troupe/jobs';
import type { JsonSchema, Route, RouteBody } from '../routes/route.js';

const PROBLEM: RouteBody = {
  description: 'A refused request; `title` is the code.',
  content: {
    'application/problem+json': {
      type: 'object',
      properties: {
        type: { type: 'string' },
        title: { type: 'string' },
        status: { type: 'integer' },
        detail: { type: 'string' },
      },
    },
  },
};

/** The OpenAPI 3.1 document of the routes. */
export function openapiDocument(routes: readonly Route[], jobs: ReadonlyMap<string, JobDefinition>): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] as object, { [route.method]: operationOf(route) });
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Troupe',
      version: '1',
      description:
        jobs.size === 0
          ? 'Jobs of a Troupe leader.'
          : `Jobs with a schema here: ${[...jobs.keys()].join(', ')}.`,
    },
    paths,
    components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

function operationOf({ method, path, role, summary, parameters = [], body, answers }: Route): object {
  return {
    operationId: `${method} ${path}`,
    summary,
    ...(role === undefined ? {} : { description: `Needs the role \`${role}\`.`, security: [{ token: [] }] }),
    parameters: parameters.map(({ in: place, ...rest }) => ({
      ...rest,
      in: place,
      required: place === 'path',
    })),
    ...(body === undefined ? {} : { requestBody: bodyOf(body) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, bodyOf(answer)])),
      default: bodyOf(PROBLEM),
    },
  };
}

function bodyOf({ description, content }: RouteBody): object {
  const types = Object.entries(content).map(([type, schema]): [string, { schema: JsonSchema }] => [
    type,
    { schema },
  ]);
  return { description, content: Object.fromEntries(types) };
}
