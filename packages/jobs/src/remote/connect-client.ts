import { type ActorRef, createSystem, nodeHost } from '@troupe/core';
import type { Client } from '../client/client.js';
import { type ClientActor, spawnClient } from '../client/client-actor.js';
import { checkOptions, plainName } from '../option-check.js';
import type { ClientHello, ClientMessage, ToClient } from '../protocol/client-messages.js';
import { encodeClient, encodeClientHello, readToClient } from '../wire/client-codec.js';
import { DIAL_CHECKS, type DialOptions } from './dial-options.js';
import { LeaderLink, type LinkCodec } from './leader-connection.js';

export interface ConnectClientOptions extends DialOptions {
  /** Who submits: jobs carry it, caps count by it. */
  readonly name?: string;
}

const KNOWN = { ...DIAL_CHECKS, name: plainName(100) };

const codec: LinkCodec<ClientHello, ClientMessage, ToClient> = {
  role: 'client',
  hello: encodeClientHello,
  message: encodeClient,
  answer(type, from, connection) {
    const answer = readToClient(type, from);
    if (answer?.kind !== 'welcome') return answer;
    // The listener reads no further ahead than this, so more would only wait in the socket.
    return { ...answer, outstandingMax: Math.min(answer.outstandingMax, connection.handshake.inFlightMax) };
  },
};

/** A client of a leader elsewhere. Resolves with the first session; from then on it comes back by itself after every loss. */
export async function connectClient(options: ConnectClientOptions): Promise<Client> {
  checkOptions('connectClient', options, KNOWN, ['address']);
  const { name = 'client', host = nodeHost } = options;
  const system = createSystem({ name: 'client', host });
  // Filled before the first message can be handled: nothing runs before this function gives way.
  const ends: { ref?: ActorRef<typeof ClientActor> } = {};
  const link = new LeaderLink(options, name, codec, {
    onUp: () => ends.ref?.tell.reconnect(),
    onDown: () => ends.ref?.tell.lost(),
    onLost: (payload, error) => ends.ref?.tell.payloadLost({ payload, error }),
  });
  const { client, ref } = spawnClient((definition, ...rest) => system.spawn(definition, ...rest), {
    name,
    host,
    streams: true,
    leader: {
      helloClient: ({ hello, port }) => link.open(hello, port),
      fromClient: ({ message, port }) => link.send(message, port),
    },
    onClose: () => {
      link.close();
      void system.shutdown();
    },
  });
  ends.ref = ref;
  try {
    await link.ready();
  } catch (error) {
    client.close();
    throw error;
  }
  return client;
}
