import { type ActorRef, type AnyRef, defineActor } from '@troupe/core';
import type { LeaderActor } from '#src/leader/leader-actor.js';
import { routePeerMessages } from '#src/leader/route-peer-messages.js';
import type { LeaderForClients, LeaderForWorkers, PeerPort } from '#src/protocol/leader-interface.js';
import type { SimulatedMachine, Simulation } from './simulation.js';

/** Stands for the connection in the leader's system; its end is the end of the connection. */
const Session = defineActor('session', { handlers: {} });

interface Peer {
  readonly machine: SimulatedMachine;
  readonly incarnation: number;
  lost(): void;
  reconnect(): void;
}

/**
 * One connection, ordered both ways. Once broken it loses every message; some time later both ends notice.
 */
class Connection {
  readonly peer: Peer;
  leaderIncarnation = 0;
  ref: AnyRef | undefined = undefined;
  port: PeerPort<never> | undefined = undefined;
  broken = false;
  closed = false;
  upAt = 0;
  downAt = 0;

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

export interface NetFaults {
  /** The probability that a connection breaks at a message. */
  readonly cut: number;
  readonly delayMs: number;
}

/** The network between one leader and its peers. */
export class SimulatedNetwork {
  faults: NetFaults;
  cuts = 0;
  private readonly simulation: Simulation;
  private readonly leaderMachine: SimulatedMachine;
  private leader: ActorRef<typeof LeaderActor> | undefined;
  private readonly random: () => number;
  private readonly connections = new Set<Connection>();
  private readonly onSent: (message: unknown) => void;

  /** `onSent`: gets every message at the moment it leaves the leader. */
  constructor(
    simulation: Simulation,
    leaderMachine: SimulatedMachine,
    faults: NetFaults,
    onSent: (message: unknown) => void = () => undefined,
  ) {
    this.simulation = simulation;
    this.leaderMachine = leaderMachine;
    this.faults = faults;
    this.onSent = onSent;
    this.random = simulation.stream('net');
  }

  leaderUp(ref: ActorRef<typeof LeaderActor>): void {
    this.leader = ref;
  }

  /** The leader's machine has crashed: every connection to it breaks. */
  leaderDown(): void {
    this.leader = undefined;
    for (const connection of this.connections) this.break(connection);
  }

  peerDown(machine: SimulatedMachine): void {
    for (const connection of this.connections)
      if (connection.peer.machine === machine) this.break(connection);
  }

  cutSome(chance: number): void {
    for (const connection of this.connections) if (this.random() < chance) this.break(connection);
  }

  /** The leader as a worker or client on that machine reaches it. */
  leaderFor(peer: Peer): LeaderForWorkers & LeaderForClients {
    let current: Connection | undefined;
    const hello = (kind: 'helloWorker' | 'helloClient', message: unknown, port: PeerPort<never>): void => {
      const connection = new Connection(peer);
      current = connection;
      this.dial(connection, kind, message, port);
    };
    const write = (kind: 'fromWorker' | 'fromClient', message: unknown): void => {
      const connection = current;
      if (connection === undefined || connection.closed) return;
      this.up(connection, () => this.deliverToLeader(connection, kind, message));
    };
    return {
      helloWorker: (message) => hello('helloWorker', message.hello, message.port),
      helloClient: (message) => hello('helloClient', message.hello, message.port),
      fromWorker: (message) => write('fromWorker', message.message),
      fromClient: (message) => write('fromClient', message.message),
    };
  }

  private dial(
    connection: Connection,
    kind: 'helloWorker' | 'helloClient',
    hello: unknown,
    port: PeerPort<never>,
  ): void {
    this.connections.add(connection);
    this.simulation.at(this.simulation.now + this.delay(), undefined, () => {
      if (this.leader === undefined || connection.closed) return this.break(connection);
      connection.leaderIncarnation = this.leaderMachine.incarnation;
      connection.ref = this.leaderMachine.system.spawn(Session);
      connection.port = {
        ref: connection.ref,
        offer: (message) => {
          this.onSent(message);
          this.down(connection, () => void port.offer(message));
          return 'accepted';
        },
      };
      this.deliverToLeader(connection, kind, hello);
    });
  }

  private deliverToLeader(connection: Connection, kind: string, body: unknown): void {
    if (this.leader === undefined || connection.leaderIncarnation !== this.leaderMachine.incarnation) return;
    const name = kind.startsWith('hello') ? 'hello' : 'message';
    const methods = routePeerMessages(this.leader.tell) as unknown as Record<
      string,
      (payload: unknown) => void
    >;
    methods[kind]?.({ [name]: copyOf(body), port: connection.port });
  }

  private up(connection: Connection, deliver: () => void): void {
    connection.upAt = this.carry(connection, connection.upAt, this.leaderMachine, deliver);
  }

  private down(connection: Connection, deliver: () => void): void {
    connection.downAt = this.carry(connection, connection.downAt, connection.peer.machine, () => {
      if (connection.peer.machine.incarnation === connection.peer.incarnation) deliver();
    });
  }

  private carry(
    connection: Connection,
    after: number,
    machine: SimulatedMachine,
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
    connection.closed = true;
    connection.broken = true;
    this.cuts += 1;
    this.connections.delete(connection);
    const { peer, ref } = connection;
    if (ref !== undefined && connection.leaderIncarnation === this.leaderMachine.incarnation)
      void this.leaderMachine.system.stop(ref);
    if (peer.machine.incarnation !== peer.incarnation) return;
    this.simulation.at(this.simulation.now + this.random() * 20, peer.machine, () => peer.lost());
    this.simulation.at(this.simulation.now + 20 + this.random() * 100, peer.machine, () => peer.reconnect());
  }

  private delay(): number {
    return 0.05 + this.random() * this.faults.delayMs;
  }
}

/** Changes that a peer makes to a message afterwards must not reach the leader. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyOf(field)]));
}
