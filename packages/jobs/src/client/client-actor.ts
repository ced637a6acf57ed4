import {
  type ActorContext,
  type ActorDefinition, type ActorRef,
  type ActorSystem,
  defineActor,
  type Host,
} from '@troupe/core';
import { actorHost } from '../actor-host.js';
import type { ToClient } from '../protocol/client-messages.js';
import type { ClientFace, PeerPort } from '../protocol/leader-face.js';
import { Client } from './client.js';

export interface ClientState {
  readonly client: Client;
}

type Context = ActorContext<ClientState>;

const handlers = {
  run(_ctx: Context, task: () => void) {
    task();
  },
  lost(ctx: Context) {
    ctx.state.client.disconnected();
  },
  reconnect(ctx: Context) {
    ctx.state.client.connect();
  },
  fromLeader(ctx: Context, message: ToClient) {
    ctx.state.client.fromLeader(message);
  },
};

/** The far end of a client: holds its session with the leader. The near end, with promises, is {@link Client}. */
export const ClientActor: ActorDefinition<typeof handlers, ClientState, ClientState> = defineActor('client', {
  state: (args: ClientState) => args,
  handlers,
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
  readonly host: Host;
  readonly leader: ClientFace;
}

export interface SpawnedClient {
  readonly client: Client;
  readonly ref: ActorRef<typeof ClientActor>;
}

export function spawnClient(spawn: ActorSystem['spawn'], args: ClientArgs): SpawnedClient {
  const { name, host, leader } = args;
  const token = Math.floor(host.random() * 2 ** 52).toString(36);
  // The two ends know each other: each is reached only after this function has returned.
  const ends: { port?: PeerPort<ToClient>; run?: (task: () => void) => void } = {};
  const client = new Client({
    client: name,
    token,
    host: actorHost(host, { run: (task) => ends.run?.(task) }),
    link: {
      open: (hello) => leader.helloClient({ hello, port: ends.port as PeerPort<ToClient> }),
      send: (message) => leader.fromClient({ message, port: ends.port as PeerPort<ToClient> }),
    },
  });
  const ref = spawn(ClientActor, { client });
  ends.port = { ref, send: (message) => ref.tell.fromLeader(message) };
  ends.run = (task) => ref.tell.run(task);
  return { client, ref };
}
