/** A module of the user, imported into this thread. */
export async function importModule(url: string): Promise<Readonly<Record<string, unknown>>> {
  if (/\.[cm]?tsx?$/.test(new URL(url).pathname)) await registerTsx();
  return (await import(/* webpackIgnore: true */ url)) as Readonly<Record<string, unknown>>; // a module namespace
}

let registered: Promise<void> | undefined;

/**
 * tsx gives its hooks to the main thread only, where Node 20 keeps them. A thread inherits the arguments of
 * the process, so it finds tsx there and registers it for itself.
 */
function registerTsx(): Promise<void> {
  registered ??= (async () => {
    const loader = process.execArgv.find((argument) => /^file:.*\/tsx\/dist\/.*\.mjs$/.test(argument));
    if (loader === undefined) return;
    const api = new URL(loader.replace(/\/tsx\/dist\/.*$/, '/tsx/dist/esm/api/index.mjs')).href;
    const { register }: { register(): unknown } = await import(/* webpackIgnore: true */ api);
    register();
  })();
  return registered;
}
