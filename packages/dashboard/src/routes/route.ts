import type { Client } from '@troupe/jobs';
import type { Principal, Role } from '../access/role.js';
import type { Redaction } from '../redaction/redaction.js';
import type { JobDefinitions } from './job/job-definitions.js';
import type { RequestParameters } from './request-parameters.js';

/** JSON Schema, as OpenAPI 3.1 uses it. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export interface RouteParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonSchema;
}

export interface RouteBody {
  readonly description: string;
  /** Content types, each with the schema of its value. */
  readonly content: Readonly<Record<string, JsonSchema>>;
}

/** One request of a user, after its token was accepted. */
export interface RouteCall {
  readonly client: Client;
  readonly jobs: JobDefinitions;
  readonly principal: Principal;
  readonly request: Request;
  readonly parameters: RequestParameters;
  readonly bodyBytesMax: number;
  readonly redaction: Redaction;
  /** The address of the peer. */
  readonly remote: string;
}

/** One path and method: its documentation and its code. The routes of the gateway are a list of these. */
export interface Route {
  readonly method: 'get' | 'post' | 'delete';
  /** With parameters in braces: `/api/jobs/{id}`. */
  readonly path: string;
  /** The right it needs; undefined: none, not even a token. */
  readonly role: Role | undefined;
  readonly summary: string;
  readonly parameters?: readonly RouteParameter[];
  readonly body?: RouteBody;
  /** Answers by status. Problems are the same everywhere and stand in the document once. */
  readonly answers: Readonly<Record<string, RouteBody>>;
  /** Pages may follow its answer over `/api/live`: it is looked at so often. Undefined: they may not. */
  readonly followMs?: number;
  readonly serve: (call: RouteCall) => Response | Promise<Response>;
}

/** Matches the paths of a route; its parameters are groups. */
export function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);
}

export function jsonBody(description: string, schema: JsonSchema): RouteBody {
  return { description, content: { 'application/json': schema } };
}

export function json(value: unknown, status = 200): Response {
  return new Response(`${JSON.stringify(value)}\n`, {
    status,
    headers: { 'content-type': 'application/json' },
  });
}
