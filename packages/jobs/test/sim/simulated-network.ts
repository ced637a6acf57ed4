import { type ActorRef, type AnyRef, defineActor } from '@troupe/core';
import type { LeaderActor } from '#src/leader/leader-actor.js';
import { routePeerMessages } from '#src/leader/route-peer-messages.js';
import type { ClientHello, ClientMessage, ToClient } from '#src/protocol/client/client-messages.js';
import type {
  LeaderForClients,
  LeaderForWorkers,
  PeerAccess,
  PeerPort,
} from '#src/protocol/leader-interface.js';
import type { ToWorker, WorkerHello, WorkerMessage } from '#src/protocol/worker/worker-messages.js';
import type { UnsupportedCall } from '#src/wire/client/client-codec.js';
import { FinalAnswers } from './final-answers.js';
import type { ObservedConnection } from './message-observer.js';
import type { PeerVersion, PeerVersions } from './peer-versions.js';
import type { SimulatedMachine, Simulation } from './simulation.js';

/** A machine that was paused sends and reads what it has missed in this time. */
const AWAKE_MS = 100;

/** Stands for the connection in the leader's system; its end is the end of the connection. */
const Session = defineActor('session', { handlers: {} });

interface Peer {
  readonly machine: SimulatedMachine;
  readonly incarnation: number;
  /** Proved by its key; empty without keys. */
  readonly identity: string;
  /** The most attempts that a connection allows. */
  readonly creditMax: number;
  readonly version: PeerVersion;
  lost(): void;
  reconnect(): void;
  /** An operator has ended its session for good. */
  stopped?(): void;
}

type AtLeader = ClientMessage | UnsupportedCall | WorkerMessage;

/** A leader that accepts connections. */
interface Endpoint {
  readonly machine: SimulatedMachine;
  readonly incarnation: number;
  readonly ref: ActorRef<typeof LeaderActor>;
}

/**
 * One connection, ordered both ways. Once broken it loses every message; some time later both ends notice.
 */
class Connection {
  readonly peer: Peer;
  endpoint: Endpoint | undefined = undefined;
  ref: AnyRef | undefined = undefined;
  port: PeerPort<never> | undefined = undefined;
  readonly observed: ObservedConnection;
  broken = false;
  closed = false;
  upAt = 0;
  downAt = 0;

  constructor(peer: Peer) {
    this.peer = peer;
    const { machine, incarnation, identity, creditMax } = peer;
    this.observed = { name: `${machine.name}.${incarnation}`, identity, creditMax, attempts: 0 };
  }
}

export interface NetFaults {
  /** The probability that a connection breaks at a message. */
  readonly cut: number;
  /** The same at the answer to a call. */
  readonly cutAnswer: number;
  readonly delayMs: number;
}

/** Gets every message, as it reaches or leaves a leader. */
export interface NetworkWatch {
  received(message: unknown, connection: ObservedConnection, leader: SimulatedMachine): void;
  sent(message: unknown, connection: ObservedConnection, leader: SimulatedMachine): void;
}

/** The network between leaders and their peers. Several leaders have one address: a peer reaches any of them. */
export class SimulatedNetwork {
  faults: NetFaults;
  cuts = 0;
  private readonly simulation: Simulation;
  private endpoints: Endpoint[] = [];
  private readonly random: () => number;
  private readonly connections = new Set<Connection>();
  private readonly watch: NetworkWatch;
  private readonly versions: PeerVersions;
  private readonly finalAnswers: FinalAnswers;

  constructor(simulation: Simulation, faults: NetFaults, versions: PeerVersions, watch: NetworkWatch) {
    this.simulation = simulation;
    this.faults = faults;
    this.versions = versions;
    this.watch = watch;
    this.finalAnswers = new FinalAnswers((text) => simulation.problem(text));
    this.random = simulation.stream('net');
  }

  leaderUp(machine: SimulatedMachine, ref: ActorRef<typeof LeaderActor>): void {
    this.endpoints.push({ machine, incarnation: machine.incarnation, ref });
  }

  /** The leader has ended: every connection to it breaks. */
  leaderDown(machine: SimulatedMachine): void {
    this.endpoints = this.endpoints.filter((endpoint) => endpoint.machine !== machine);
    for (const connection of this.connections)
      if (connection.endpoint?.machine === machine) this.break(connection);
  }

  peerDown(machine: SimulatedMachine): void {
    for (const connection of this.connections)
      if (connection.peer.machine === machine) this.break(connection);
  }

  /** The connection of this session carries messages, and neither of its ends is paused or has just been. */
  isWorking(session: AnyRef): boolean {
    const since = this.simulation.now - AWAKE_MS;
    const hasRun = (machine: SimulatedMachine | undefined): boolean => (machine?.pausedUntil ?? 0) < since;
    for (const { ref, broken, peer, endpoint } of this.connections)
      if (ref === session) return !broken && hasRun(peer.machine) && hasRun(endpoint?.machine);
    return false;
  }

  cutSome(chance: number): void {
    for (const connection of this.connections) if (this.random() < chance) this.break(connection);
  }

  /** The leader as a worker or client on that machine reaches it. */
  leaderFor(peer: Peer): LeaderForWorkers & LeaderForClients {
    const { versions, finalAnswers } = this;
    const { version } = peer;
    let current: Connection | undefined;
    const hello = (
      kind: 'helloWorker' | 'helloClient',
      message: ClientHello | WorkerHello,
      offer: (message: never, isCurrent: boolean) => void,
    ): void => {
      // A peer has one connection at a time.
      if (current !== undefined) this.close(current);
      const connection = new Connection(peer);
      current = connection;
      this.dial(connection, kind, message, (one) => offer(one, current === connection));
    };
    const write = (kind: 'fromWorker' | 'fromClient', messages: readonly AtLeader[]): void => {
      const connection = current;
      if (connection === undefined || connection.closed) return;
      for (const message of messages)
        this.up(connection, () => this.deliverToLeader(connection, kind, message));
    };
    const name = `${peer.machine.name}.${peer.incarnation}`;
    return {
      helloWorker: ({ hello: sent, port }) =>
        hello('helloWorker', versions.workerHello(version, sent), (message: ToWorker) => {
          if (message.kind === 'refused' && message.code === 'ERR_SESSION_STOPPED') return peer.stopped?.();
          for (const one of versions.toWorker(version, message)) port.offer(one);
        }),
      helloClient: ({ hello: sent, port }) =>
        hello('helloClient', versions.clientHello(version, sent), (message: ToClient, isCurrent) => {
          // A late message of a connection that the client has given up is not its answer.
          if (isCurrent) finalAnswers.received(name, message);
          for (const one of versions.toClient(version, message)) port.offer(one);
        }),
      fromWorker: ({ message }) => write('fromWorker', versions.fromWorker(version, message)),
      fromClient: ({ message }) => {
        finalAnswers.written(name, message);
        write('fromClient', versions.fromClient(version, message));
      },
    };
  }

  private dial(
    connection: Connection,
    kind: 'helloWorker' | 'helloClient',
    hello: ClientHello | WorkerHello,
    offer: (message: never) => void,
  ): void {
    this.connections.add(connection);
    this.simulation.at(this.simulation.now + this.delay(), undefined, () => {
      const { endpoints } = this;
      // One leader needs no choice, and so no random number.
      const chosen = endpoints.length < 2 ? 0 : Math.floor(this.random() * endpoints.length);
      const endpoint = endpoints[chosen];
      if (endpoint === undefined || connection.closed) return this.break(connection);
      connection.endpoint = endpoint;
      connection.ref = endpoint.machine.system.spawn(Session);
      connection.port = {
        ref: connection.ref,
        access: accessOf(connection.peer),
        creditMax: connection.peer.creditMax,
        offer: (message) => {
          this.watch.sent(message, connection.observed, endpoint.machine);
          this.down(connection, () => offer(message));
          if (isAnswer(message) && this.random() < this.faults.cutAnswer) this.break(connection);
          return 'accepted';
        },
      };
      this.deliverToLeader(connection, kind, withIdentity(hello, connection.peer));
    });
  }

  private deliverToLeader(connection: Connection, kind: string, body: unknown): void {
    const { endpoint } = connection;
    if (endpoint === undefined || !isUp(endpoint)) return;
    const name = kind.startsWith('hello') ? 'hello' : 'message';
    if (isUnsupported(body)) return this.answerUnsupported(connection, body);
    if (name === 'message') this.watch.received(body, connection.observed, endpoint.machine);
    const methods = routePeerMessages(endpoint.ref.tell) as unknown as Record<
      string,
      (payload: unknown) => void
    >;
    methods[kind]?.({ [name]: body, port: connection.port });
  }

  /** As the session of the connection does, without its leader. */
  private answerUnsupported({ port }: Connection, { call, problem }: UnsupportedCall): void {
    const answer: ToClient = { kind: 'answer', call, answer: { kind: 'unsupported', problem } };
    (port as PeerPort<ToClient> | undefined)?.offer(answer);
  }

  private up(connection: Connection, deliver: () => void): void {
    // Before the connection is made there is no leader that could be paused.
    connection.upAt = this.carry(connection, connection.upAt, connection.endpoint?.machine, deliver);
  }

  private down(connection: Connection, deliver: () => void): void {
    connection.downAt = this.carry(connection, connection.downAt, connection.peer.machine, () => {
      if (connection.peer.machine.incarnation === connection.peer.incarnation) deliver();
    });
  }

  private carry(
    connection: Connection,
    after: number,
    machine: SimulatedMachine | undefined,
    deliver: () => void,
  ): number {
    if (this.random() < this.faults.cut) this.breakSilently(connection);
    if (connection.broken) return after;
    const at = Math.max(after, this.simulation.now + this.delay());
    this.simulation.at(at, machine, () => {
      if (!connection.broken) deliver();
    });
    return at + 0.001;
  }

  /** Half open: messages are lost at once, and the ends notice later. */
  private breakSilently(connection: Connection): void {
    if (connection.broken) return;
    connection.broken = true;
    this.simulation.at(this.simulation.now + this.random() * 150, undefined, () => this.break(connection));
  }

  private break(connection: Connection): void {
    if (connection.closed) return;
    this.cuts += 1;
    this.close(connection);
    const { peer } = connection;
    if (peer.machine.incarnation !== peer.incarnation) return;
    this.simulation.at(this.simulation.now + this.random() * 20, peer.machine, () => peer.lost());
    this.simulation.at(this.simulation.now + 20 + this.random() * 100, peer.machine, () => peer.reconnect());
  }

  /** Its peer learns nothing of it. */
  private close(connection: Connection): void {
    if (connection.closed) return;
    connection.closed = true;
    connection.broken = true;
    this.connections.delete(connection);
    const { ref, endpoint } = connection;
    if (ref !== undefined && endpoint !== undefined && isUp(endpoint)) void endpoint.machine.system.stop(ref);
  }

  private delay(): number {
    return 0.05 + this.random() * this.faults.delayMs;
  }
}

function isUp({ machine, incarnation }: Endpoint): boolean {
  return machine.incarnation === incarnation;
}

function isAnswer(message: unknown): boolean {
  return (message as { kind?: unknown }).kind === 'answer';
}

/** As the listener does: the name of a client with a key begins with its identity. */
function withIdentity(hello: unknown, { identity }: Peer): unknown {
  const { client } = hello as { client?: string };
  return client === undefined || identity === ''
    ? hello
    : { ...(hello as object), client: `${identity}/${client}` };
}

/** Every identity may do everything. */
function accessOf({ identity }: Peer): PeerAccess | undefined {
  if (identity === '') return undefined;
  return { identity, permits: () => true, owns: (client) => client.startsWith(`${identity}/`) };
}

function isUnsupported(message: unknown): message is UnsupportedCall {
  return (message as { kind?: unknown }).kind === 'unsupported';
}
