import { type ActorRef, createSystem, nodeHost } from '@troupe/core';
import { object } from '@troupe/core/option-check';
import type { Client } from '../client/client.js';
import { type ClientActor, endWithSystem, spawnClient } from '../client/client-actor.js';
import type { ClientTracing } from '../client/client-tracing.js';
import { checkOptions, plainName } from '../option-check.js';
import type { ClientHello, ClientMessage, ToClient } from '../protocol/client/client-messages.js';
import { encodeClient, encodeClientHello, readToClient } from '../wire/client/client-codec.js';
import { DIAL_CHECKS, type DialOptions } from './dial-options.js';
import { LeaderConnection } from './leader-connection.js';
import type { RoleCodec } from './leader-session.js';

export interface ConnectClientOptions extends DialOptions {
  /** The submitter's name: jobs carry it, and quotas count by it. Default `client`. */
  readonly name?: string | undefined;
  /** Traces its submits: `...jobTelemetry().client` of @troupe/middleware. Default: none are traced. */
  readonly tracing?: ClientTracing | undefined;
}

export const CLIENT_CHECKS = { ...DIAL_CHECKS, name: plainName(100), tracing: object };

const codec: RoleCodec<ClientHello, ClientMessage, ToClient> = {
  role: 'client',
  hello: encodeClientHello,
  message: encodeClient,
  answer(type, from, connection) {
    const answer = readToClient(type, from);
    if (answer?.kind !== 'welcome') return answer;
    return { ...answer, inFlightMax: connection.handshake.inFlightMax };
  },
};

/** A client of a leader elsewhere. Resolves with the first session; from then on it reconnects by itself. */
export async function connectClient(options: ConnectClientOptions): Promise<Client> {
  checkOptions('connectClient', options, CLIENT_CHECKS, ['address']);
  const { name = 'client', host = nodeHost, tracing } = options;
  const system = createSystem({ name: 'client', host, middleware: options.middleware });
  // Set before the first event: no event fires before this function awaits.
  const actor: { ref?: ActorRef<typeof ClientActor>; end?: (error: Error) => void } = {};
  const connection = new LeaderConnection(system, options, name, codec, {
    onUp: () => actor.ref?.tell.connected(),
    onDown: () => actor.ref?.tell.connectionLost(),
    onRefused: (error) => actor.end?.(error),
    onLost: (payload, error) => actor.ref?.tell.payloadLost({ payload, error }),
  });
  // The client takes the welcome in a turn of its own, perhaps in a later slice than the connection.
  let onTaken: () => void = () => undefined;
  const taken = new Promise<void>((resolve) => {
    onTaken = resolve;
  });
  const { client, ref, end } = spawnClient((definition, ...rest) => system.spawn(definition, ...rest), {
    name,
    host,
    streams: true,
    actor: 'client',
    tree: () => system.tree(),
    tracing,
    leader: {
      helloClient: ({ hello, port }) => connection.open(hello, port),
      fromClient: ({ message, port }) => connection.write(message, port),
    },
    onWelcomed: onTaken,
    onEnded: () => {
      onTaken();
      connection.close();
      void system.shutdown();
    },
  });
  actor.ref = ref;
  actor.end = end;
  endWithSystem(system, end);
  try {
    await connection.ready();
    await taken;
  } catch (error) {
    client.close();
    throw error;
  }
  return client;
}
