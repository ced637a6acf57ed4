import type { Middleware } from '@troupe/core';
import { type Client, connectClient, embedded, type LeaderServer, startLeader } from '@troupe/jobs';

const middleware: readonly Middleware[] = [];

export const leader = startLeader({ dir: 'jobs', onFatal: () => undefined, middleware });
export const app = embedded({ dir: 'jobs', middleware });
export const client = connectClient({ address: { port: 7419 }, middleware });

export const trees = (one: LeaderServer, other: Client): string[] => [one.tree(), other.tree()];

// @ts-expect-error A client has the calls of its user, not the inputs of its machine.
export const inputs = (one: Client): unknown => one.fromLeader;
