import { RequestParameters } from '../routes/request-parameters.js';
import { pathPattern, type Route } from '../routes/route.js';

export interface FollowedRoute {
  readonly route: Route;
  readonly everyMs: number;
  readonly parameters: RequestParameters;
}

interface Pattern {
  readonly route: Route;
  readonly everyMs: number;
  readonly path: RegExp;
  readonly query: ReadonlySet<string>;
}

/** The routes whose answers pages may follow. */
export class FollowedRoutes {
  private readonly patterns: readonly Pattern[];

  constructor(routes: readonly Route[]) {
    this.patterns = routes.flatMap((route) =>
      route.followMs === undefined ? [] : [patternOf(route, route.followMs)],
    );
  }

  /** Undefined: no such route, or its answer cannot be followed. */
  find(target: string): FollowedRoute | undefined {
    const [path = '', query = ''] = target.split('?');
    for (const { route, everyMs, path: pattern, query: known } of this.patterns) {
      const match = pattern.exec(path);
      if (match === null) continue;
      const inPath = decoded(match.groups ?? {});
      if (inPath === undefined) return undefined;
      const parameters = new RequestParameters(inPath, new URLSearchParams(query), known);
      return { route, everyMs, parameters };
    }
    return undefined;
  }
}

function patternOf(route: Route, everyMs: number): Pattern {
  const query = (route.parameters ?? []).flatMap((one) => (one.in === 'query' ? [one.name] : []));
  return { route, everyMs, path: pathPattern(route.path), query: new Set(query) };
}

function decoded(groups: Readonly<Record<string, string>>): Readonly<Record<string, string>> | undefined {
  try {
    return Object.fromEntries(Object.entries(groups).map(([name, text]) => [name, decodeURIComponent(text)]));
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
