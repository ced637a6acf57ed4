import { type Actor, type ActorRef, type ActorSystem, defineActor, type Host } from '@troupe/core';
import { actorHost } from '../actor-host-adapter.js';
import type { StoredPayload } from '../job/stored-payload.js';
import type { ClientHello, ToClient } from '../protocol/client-messages.js';
import type { LeaderForClients, PeerPort } from '../protocol/leader-interface.js';
import { Client } from './client.js';

/** The present session, and the way into the actor. Both are set before the first message. */
interface ActorLink {
  port: PeerPort<ToClient> | undefined;
  run: (task: () => void) => void;
  open: (hello: ClientHello) => void;
}

export interface ClientState {
  readonly client: Client;
  readonly link: ActorLink;
}

/** The messages of a client. */
export interface ClientProtocol {
  run(task: () => void): void;
  lost(): void;
  reconnect(): void;
  /** A file could not be read while it was sent. */
  payloadLost(lost: { readonly payload: StoredPayload; readonly error: Error }): void;
  /** A message of an earlier connection is dropped. */
  fromLeader(received: { readonly message: ToClient; readonly port: PeerPort<ToClient> }): void;
}

/** Holds a client's session with the leader. Its promises are in {@link Client}. */
export const ClientActor: Actor<ClientProtocol, ClientState> = defineActor.of<ClientProtocol>()('client', {
  state: (args: ClientState) => args,
  handlers: {
    run(_ctx, task) {
      task();
    },
    lost(ctx) {
      ctx.state.client.disconnected();
    },
    reconnect(ctx) {
      ctx.state.client.connect();
    },
    payloadLost(ctx, { payload, error }) {
      ctx.state.client.payloadLost(payload, error);
    },
    fromLeader(ctx, { message, port }) {
      if (port === ctx.state.link.port) ctx.state.client.fromLeader(message);
    },
  },
  mailbox: { capacity: 65_536, overflow: 'grow' },
  started(ctx) {
    ctx.state.client.connect();
  },
  stopped(ctx) {
    ctx.state.client.close();
  },
});

export interface ClientArgs {
  readonly name: string;
  /** The tag of the leader's ids, where it is known already. */
  readonly tag?: string | undefined;
  readonly host: Host;
  readonly leader: LeaderForClients;
  /** Large files are read while they are sent. */
  readonly streams?: boolean | undefined;
  /** The client was closed: its connection may end. */
  readonly onClose?: (() => void) | undefined;
}

export interface SpawnedClient {
  readonly client: Client;
  readonly ref: ActorRef<typeof ClientActor>;
}

export function spawnClient(spawn: ActorSystem['spawn'], args: ClientArgs): SpawnedClient {
  const { name, host, leader } = args;
  // Identifies the numbering of its submits.
  const token = Math.floor(host.random() * 2 ** 52).toString(36);
  const link: ActorLink = { port: undefined, run: () => undefined, open: () => undefined };
  const client = new Client({
    client: name,
    token,
    tag: args.tag,
    host: actorHost(host, { run: (task) => link.run(task) }),
    streams: args.streams ?? false,
    link: {
      open: (hello) => link.open(hello),
      write: (message) => {
        if (link.port !== undefined) leader.fromClient({ message, port: link.port });
      },
      close: () => args.onClose?.(),
    },
  });
  const ref = spawn(ClientActor, { args: { client, link } });
  link.run = (task) => ref.tell.run(task);
  link.open = (hello) => {
    const port: PeerPort<ToClient> = { ref, offer: (message) => ref.offer.fromLeader({ message, port }) };
    link.port = port;
    leader.helloClient({ hello, port });
  };
  return { client, ref };
}
