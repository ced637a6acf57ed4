import { type Actor, type ActorRef, type ActorSystem, defineActor, type Host } from '@troupe/core';
import { ClientClosedError } from '../jobs-error.js';
import type { ToClient } from '../protocol/client/client-messages.js';
import type { LeaderForClients, PeerPort } from '../protocol/leader-interface.js';
import { rootCause } from '../root-cause.js';
import { CallTable } from './calls/call-table.js';
import { Client, type ClientSetup } from './client.js';
import { type ClientProtocol, type ClientReceived, routeToClient } from './client-protocol.js';
import type { ClientTracing } from './client-tracing.js';
import { ClientFeeds } from './feed/client-feeds.js';
import type { ClientEffects } from './machine/client-effects.js';
import { ClientMachine } from './machine/client-machine.js';
import { ReaderTable } from './stream/reader-table.js';

/** The machine outlives a restart of the actor: the calls of the user do not depend on it. */
export interface ClientState {
  readonly machine: ClientMachine;
  readonly link: ClientLink;
}

interface ClientLink {
  /** Of the present session. */
  port: PeerPort<ToClient> | undefined;
  /** No message of an effect may follow. */
  ended: boolean;
}

/** Holds a client's session with the leader. The promises of its user are in {@link Client}. */
export const ClientActor: Actor<ClientProtocol, ClientState> = defineActor.of<ClientProtocol>()('client', {
  state: (args: ClientState) => args,
  handlers: {
    welcome: fromLeader,
    receipts: fromLeader,
    outcomes: fromLeader,
    answer: fromLeader,
    stream_items: fromLeader,
    feed_states: fromLeader,
    refused: fromLeader,
    heartbeat: fromLeader,
    define(ctx, definitions) {
      ctx.state.machine.define(definitions);
    },
    submit(ctx, drafts) {
      ctx.state.machine.submit(drafts);
    },
    withdraw(ctx, drafts) {
      ctx.state.machine.withdraw(drafts);
    },
    awaitOutcomes(ctx, waits) {
      ctx.state.machine.awaitOutcomes(waits);
    },
    stopAwaiting(ctx, waits) {
      ctx.state.machine.stopAwaiting(waits);
    },
    request(ctx, request) {
      ctx.state.machine.request(request);
    },
    abandonRequest(ctx, call) {
      ctx.state.machine.abandonRequest(call);
    },
    readStream(ctx, request) {
      ctx.state.machine.readStream(request);
    },
    streamConsumed(ctx, position) {
      ctx.state.machine.streamConsumed(position);
    },
    stopStream(ctx, reader) {
      ctx.state.machine.stopStream(reader);
    },
    openFeed(ctx, feed) {
      ctx.state.machine.openFeed(feed);
    },
    feed(ctx, draft) {
      ctx.state.machine.feed(draft);
    },
    withdrawFeed(ctx, withdrawal) {
      ctx.state.machine.withdrawFeed(withdrawal);
    },
    close(ctx) {
      ctx.state.machine.close();
    },
    connected(ctx) {
      ctx.state.machine.connect();
    },
    connectionLost(ctx) {
      ctx.state.machine.disconnected();
    },
    payloadLost(ctx, { payload, error }) {
      ctx.state.machine.payloadLost(payload, error);
    },
  },
  // Calls of one moment are one message of each kind; the leader's messages are bounded by the submits and
  // waits of this client.
  mailbox: { capacity: 16_384 },
  started(ctx) {
    ctx.state.machine.connect();
  },
});

/** A message of an earlier session is dropped. */
function fromLeader({ state }: { readonly state: ClientState }, { message, port }: ClientReceived): void {
  if (port === state.link.port) state.machine.fromLeader(message);
}

export interface ClientArgs {
  readonly name: string;
  /** The tag of the leader's ids, where it is known already. */
  readonly tag?: string | undefined;
  readonly host: Host;
  readonly leader: LeaderForClients;
  /** Large files are read while they are sent. */
  readonly streams?: boolean | undefined;
  /** The name of its actor. Default: a number behind `client`. */
  readonly actor?: string | undefined;
  /** The actors of its system as text. */
  readonly tree?: (() => string) | undefined;
  readonly tracing?: ClientTracing | undefined;
  /** It knows the leader of a session: its ids are understood from now on. */
  readonly onWelcomed?: (() => void) | undefined;
  /** The client has ended: its connection may end. */
  readonly onEnded?: (() => void) | undefined;
}

export interface SpawnedClient {
  readonly client: Client;
  readonly ref: ActorRef<typeof ClientActor>;
  /** Its actor has ended, or is about to: every call fails with this error. */
  end(error: Error): void;
}

export function spawnClient(spawn: ActorSystem['spawn'], args: ClientArgs): SpawnedClient {
  const { name, host, tag, streams, tracing, tree = () => '' } = args;
  // Identifies the numbering of its submits.
  const token = Math.floor(host.random() * 2 ** 52).toString(36);
  const link: ClientLink = { port: undefined, ended: false };
  const table = new CallTable(tag);
  const readers = new ReaderTable();
  const feeds = new ClientFeeds();
  // No effect comes before the actor has started, in a later turn.
  const self = (): ActorRef<typeof ClientActor> => ref;
  const effects = effectsOf(self, link, { table, readers, feeds }, args);
  const machine = new ClientMachine({ client: name, token, tag, effects });
  const ref = spawn(ClientActor, { args: { machine, link }, name: args.actor });
  const client = new Client({ host, streams, tree, token, tracing, table, readers, feeds, calls: ref.tell });
  return { client, ref, end: (error) => effects.ended(error) };
}

/**
 * The clients of a system end with it. A failure of the system is the error of their calls, so it is not
 * reported a second time, and the exit code of the process stays.
 */
export function endWithSystem(system: ActorSystem, end: (error: Error) => void): void {
  void system.whenStopped.then(({ cause }) =>
    // The root of an Error is one.
    end(cause === undefined ? new ClientClosedError() : (rootCause(cause) as Error)),
  );
}

function effectsOf(
  self: () => ActorRef<typeof ClientActor>,
  link: ClientLink,
  { table, readers, feeds }: Pick<ClientSetup, 'table' | 'readers' | 'feeds'>,
  { host, leader, onWelcomed, onEnded }: ClientArgs,
): ClientEffects {
  return {
    open(hello) {
      const ref = self();
      const port: PeerPort<ToClient> = {
        ref,
        offer: (message) => routeToClient(ref.offer, message, port),
      };
      link.port = port;
      leader.helloClient({ hello, port });
    },
    write(message) {
      if (link.port !== undefined) leader.fromClient({ message, port: link.port });
    },
    requestSession() {
      host.setTimer(0, () => {
        if (!link.ended) self().tell.connected();
      });
    },
    welcomed(welcome) {
      table.welcomed(welcome);
      onWelcomed?.();
    },
    received: (call, receipt) => table.received(call, receipt),
    jobEnded: (call, outcome) => table.jobEnded(call, outcome),
    streamed: (reader, items) => readers.streamed(reader, items),
    feedAnswered: (call, refusal) => table.feedAnswered(call, refusal),
    feedChanged: (state) => feeds.changed(state),
    feedOver: (feed, refusal) => feeds.over(feed, refusal),
    answered: (call, answer) => table.answered(call, answer),
    ended(error) {
      if (link.ended) return;
      link.ended = true;
      table.ended(error);
      readers.ended(error);
      feeds.ended(error);
      onEnded?.();
    },
  };
}
