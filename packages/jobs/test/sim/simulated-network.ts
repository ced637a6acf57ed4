import { type ActorRef, type AnyRef, defineActor } from '@troupe/core';
import type { LeaderActor } from '#src/leader/leader-actor.js';
import type { LeaderForClients, LeaderForWorkers, PeerPort } from '#src/protocol/leader-interface.js';
import type { SimulatedMachine, Simulation } from './simulation.js';

/** Stands for the connection inside the leader's system; its end is the connection's end. */
const Session = defineActor('session', { handlers: {} });

interface Peer {
  readonly node: SimulatedMachine;
  readonly life: number;
  lost(): void;
  reconnect(): void;
}

/** One connection. Ordered both ways; from `deafAt` on nothing arrives any more, and some time later both ends notice. */
class Connection {
  readonly peer: Peer;
  leaderLife = 0;
  ref: AnyRef | undefined = undefined;
  port: PeerPort<never> | undefined = undefined;
  deaf = false;
  closed = false;
  upAt = 0;
  downAt = 0;

  constructor(peer: Peer) {
    this.peer = peer;
  }
}

export interface NetFaults {
  /** Chance that a connection breaks at a message. */
  readonly cut: number;
  readonly delayMs: number;
}

/** The network between one leader and its peers. */
export class SimulatedNetwork {
  faults: NetFaults;
  cuts = 0;
  private readonly world: Simulation;
  private readonly leaderNode: SimulatedMachine;
  private leader: ActorRef<typeof LeaderActor> | undefined;
  private readonly random: () => number;
  private readonly connections = new Set<Connection>();
  private readonly onSent: (message: unknown) => void;

  /** `onSent`: sees what leaves the leader, at that moment. */
  constructor(
    world: Simulation,
    leaderNode: SimulatedMachine,
    faults: NetFaults,
    onSent: (message: unknown) => void = () => undefined,
  ) {
    this.world = world;
    this.leaderNode = leaderNode;
    this.faults = faults;
    this.onSent = onSent;
    this.random = world.stream('net');
  }

  leaderUp(ref: ActorRef<typeof LeaderActor>): void {
    this.leader = ref;
  }

  /** The machine is gone: every connection to it breaks. */
  leaderDown(): void {
    this.leader = undefined;
    for (const connection of this.connections) this.break(connection);
  }

  peerDown(node: SimulatedMachine): void {
    for (const connection of this.connections) if (connection.peer.node === node) this.break(connection);
  }

  cutSome(chance: number): void {
    for (const connection of this.connections) if (this.random() < chance) this.break(connection);
  }

  /** What a worker or client on that machine sees of the leader. */
  face(peer: Peer): LeaderForWorkers & LeaderForClients {
    let current: Connection | undefined;
    const hello = (how: 'helloWorker' | 'helloClient', words: unknown, port: PeerPort<never>): void => {
      const connection = new Connection(peer);
      current = connection;
      this.dial(connection, how, words, port);
    };
    const send = (how: 'fromWorker' | 'fromClient', message: unknown): void => {
      const connection = current;
      if (connection === undefined || connection.closed) return;
      this.up(connection, () => this.tell(connection, how, message));
    };
    return {
      helloWorker: (message) => hello('helloWorker', message.hello, message.port),
      helloClient: (message) => hello('helloClient', message.hello, message.port),
      fromWorker: (message) => send('fromWorker', message.message),
      fromClient: (message) => send('fromClient', message.message),
    };
  }

  private dial(
    connection: Connection,
    how: 'helloWorker' | 'helloClient',
    words: unknown,
    port: PeerPort<never>,
  ): void {
    this.connections.add(connection);
    this.world.at(this.world.now + this.delay(), undefined, () => {
      if (this.leader === undefined || connection.closed) return this.break(connection);
      connection.leaderLife = this.leaderNode.life;
      connection.ref = this.leaderNode.system.spawn(Session);
      connection.port = {
        ref: connection.ref,
        write: (message) => {
          this.onSent(message);
          this.down(connection, () => port.write(message));
        },
      };
      this.tell(connection, how, words);
    });
  }

  private tell(connection: Connection, how: string, body: unknown): void {
    if (this.leader === undefined || connection.leaderLife !== this.leaderNode.life) return;
    const name = how.startsWith('hello') ? 'hello' : 'message';
    const face = this.leader.tell as unknown as Record<string, (payload: unknown) => void>;
    face[how]?.({ [name]: copyOf(body), port: connection.port });
  }

  private up(connection: Connection, deliver: () => void): void {
    connection.upAt = this.carry(connection, connection.upAt, this.leaderNode, deliver);
  }

  private down(connection: Connection, deliver: () => void): void {
    connection.downAt = this.carry(connection, connection.downAt, connection.peer.node, () => {
      if (connection.peer.node.life === connection.peer.life) deliver();
    });
  }

  private carry(connection: Connection, after: number, node: SimulatedMachine, deliver: () => void): number {
    if (this.random() < this.faults.cut) this.goDeaf(connection);
    if (connection.deaf) return after;
    const at = Math.max(after, this.world.now + this.delay());
    this.world.at(at, node, () => {
      if (!connection.deaf) deliver();
    });
    return at + 0.001;
  }

  /** Half open: messages vanish at once, the ends learn of it later. */
  private goDeaf(connection: Connection): void {
    if (connection.deaf) return;
    connection.deaf = true;
    this.world.at(this.world.now + this.random() * 150, undefined, () => this.break(connection));
  }

  private break(connection: Connection): void {
    if (connection.closed) return;
    connection.closed = true;
    connection.deaf = true;
    this.cuts += 1;
    this.connections.delete(connection);
    const { peer, ref } = connection;
    if (ref !== undefined && connection.leaderLife === this.leaderNode.life)
      void this.leaderNode.system.stop(ref);
    if (peer.node.life !== peer.life) return;
    this.world.at(this.world.now + this.random() * 20, peer.node, () => peer.lost());
    this.world.at(this.world.now + 20 + this.random() * 100, peer.node, () => peer.reconnect());
  }

  private delay(): number {
    return 0.05 + this.random() * this.faults.delayMs;
  }
}

/** What a peer changes in its messages afterwards must not reach the leader. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Uint8Array.from(value);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, copyOf(field)]));
}
