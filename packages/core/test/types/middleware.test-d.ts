// The installation of a middleware.
import { type ActorSystem, createSystem, type Host, type Middleware } from '@troupe/core';

const counting: Middleware = {
  name: 'counting',
  wrapHost: (host: Host): Host => host,
  install({ system, middleware }) {
    const installed: ActorSystem = system;
    const names: string[] = middleware.map(({ name }) => name);
    void [installed, names];
    return { [Symbol.dispose]: () => undefined };
  },
};
createSystem({ middleware: [counting, { name: 'nothing to end', install: () => undefined }] });
// @ts-expect-error an installation ends by Symbol.dispose
createSystem({ middleware: [{ name: 'wrong', install: () => () => undefined }] });
