import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';
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

const SUBMIT_PATH = '/api/execs/{exec}/jobs';

/** The OpenAPI 3.1 document of the routes. */
export function openapiDocument(routes: readonly Route[], jobs: ReadonlyMap<string, JobDefinition>): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    Object.assign(paths[route.path] as object, { [route.method]: operationOf(route) });
  }
  const submit = routes.find(({ path }) => path === SUBMIT_PATH);
  // A path without a parameter goes before one with it.
  for (const job of submit === undefined ? [] : jobs.values()) {
    const path = SUBMIT_PATH.replace('{exec}', job.exec);
    paths[path] = { post: operationOf(submitOf(job, path, submit as Route)) };
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

/** The submit of a job whose input has a schema here. */
function submitOf({ exec, input }: JobDefinition, path: string, submit: Route): Route {
  return {
    ...submit,
    path,
    summary: `Submits ${exec}. Answers once the job is on the leader’s disk.`,
    parameters: (submit.parameters ?? []).filter(({ in: place }) => place !== 'path'),
    body: { description: 'Its input.', content: { 'application/json': jsonSchemaOf(input) } },
  };
}

/** Where the library of the schema can write it as JSON Schema; any value otherwise. */
function jsonSchemaOf(schema: StandardSchemaV1): JsonSchema {
  const standard: StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props> = schema['~standard'];
  try {
    return standard.jsonSchema?.input({ target: 'draft-2020-12' }) ?? {};
  } catch (error) {
    console.warn('dashboard: a schema has no JSON Schema', error);
    return {};
  }
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
