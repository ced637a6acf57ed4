import { pathPattern, type Route } from './route.js';

/** The methods of every path, for the refusal of others. */
export class AllowedMethods {
  private readonly known: readonly { readonly path: RegExp; readonly method: string }[];

  constructor(routes: readonly Pick<Route, 'path' | 'method'>[]) {
    this.known = routes.map(({ path, method }) => ({
      path: pathPattern(path),
      method: method === 'get' ? 'GET, HEAD' : method.toUpperCase(),
    }));
  }

  /** As the header `Allow` has them; empty: no route has this path. */
  of(path: string): string {
    const methods = this.known.filter((one) => one.path.test(path)).map(({ method }) => method);
    return [...new Set(methods)].join(', ');
  }
}
