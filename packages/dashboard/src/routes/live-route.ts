import { type FollowLive, liveResponse } from '../live/event-stream.js';
import type { FollowedRoutes } from '../live/followed-routes.js';
import type { LiveLooks, LookChange } from '../live/live-looks.js';
import type { LiveOverview } from '../live/live-overview.js';
import { badInput } from '../problem/http-problem.js';
import type { Route } from './route.js';

/** A page shows a few answers at once. */
const LOOKS_MAX = 8;

export interface LiveParts {
  readonly overview: LiveOverview;
  readonly looks: LiveLooks;
  readonly followed: FollowedRoutes;
}

/** The one connection of a page. */
export function liveRoute({ overview, looks, followed }: LiveParts): Route {
  return {
    method: 'get',
    path: '/api/live',
    role: 'read',
    summary: 'The overview once a second, and answers that a page follows: whole first, then changed fields.',
    parameters: [
      {
        name: 'look',
        in: 'query',
        description: 'The path of an answer to follow, such as `/api/queues`; may be given several times.',
        schema: { type: 'array', items: { type: 'string' } },
      },
    ],
    answers: {
      '200': { description: 'Server-Sent Events.', content: { 'text/event-stream': { type: 'string' } } },
    },
    serve({ parameters, principal, request }) {
      const looked = parameters.texts('look', LOOKS_MAX).map((path) => {
        const found = followed.find(path);
        if (found === undefined) throw badInput(`look: ${JSON.stringify(path)} cannot be followed`);
        const { role = 'read' } = found.route;
        return { path, everyMs: found.everyMs, role, mayLook: principal.roles.has(role) };
      });
      const follow: FollowLive = (listener) => {
        const ends = [overview.follow(listener)];
        for (const { path, everyMs, role, mayLook } of looked) {
          if (mayLook) ends.push(looks.follow(path, everyMs, listener));
          else listener(forbidden(path, `token ${principal.name}: this needs the role ${role}`));
        }
        return () => {
          for (const end of ends) end();
        };
      };
      return liveResponse(follow, request.signal);
    },
  };
}

function forbidden(path: string, detail: string): LookChange {
  const fields = { title: 'ERR_HTTP_FORBIDDEN', detail };
  return { kind: 'look', path, status: 403, isWhole: true, fields, gone: [] };
}
