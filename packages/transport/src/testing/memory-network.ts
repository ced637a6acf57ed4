import { SeededRandom } from '@troupe/core/testing';
import type { Clock } from '../net/clock.js';
import type { Address, DialHandler, ListenHandler, Net, NetServer } from '../net/net-interface.js';
import { type LinkConditions, MemoryLink } from './memory-link.js';
import type { PipeConditions } from './memory-pipe.js';

export interface MemoryNetworkOptions {
  readonly clock: Clock;
  readonly seed?: number | undefined;
  /** The range of the latency of an arrival; 1 to 1 unless given. */
  readonly latencyMs?: { readonly from: number; readonly to: number } | undefined;
  /** How written bytes are cut on arrival; 'whole' unless given. */
  readonly chunking?: 'whole' | 'random' | 'byte' | undefined;
  /** The probability that a connection is lost with an arrival. */
  readonly lossPerArrival?: number | undefined;
  /** Bytes in flight in one direction before `write` returns false. */
  readonly windowBytes?: number | undefined;
}

const PORT_FIRST = 40_000;

/**
 * A network in memory, driven by a clock and a seed alone. Each machine has its own `Net`; others dial it by
 * its name, while it binds 127.0.0.1, so that listeners need neither keys nor TLS.
 */
export class MemoryNetwork {
  private readonly clock: Clock;
  private readonly random: SeededRandom;
  private readonly options: MemoryNetworkOptions;
  private readonly listeners = new Map<string, ListenHandler>();
  private readonly openLinks = new Set<MemoryLink>();
  private readonly blockedRoutes = new Set<string>();
  private nextPort = PORT_FIRST;
  private lossRate: number;

  constructor(options: MemoryNetworkOptions) {
    this.clock = options.clock;
    this.options = options;
    this.random = new SeededRandom(options.seed ?? 1);
    this.lossRate = options.lossPerArrival ?? 0;
  }

  /** The network interface of one machine. */
  machine(name: string): Net {
    return {
      listen: ({ address }, handler) => this.listen(name, address, handler),
      dial: ({ address, timeoutMs }, handler) => this.dial(name, address, timeoutMs, handler),
      secureRandom: (bytes) => this.random.bytes(bytes),
    };
  }

  /** Open connections. */
  get linkCount(): number {
    return this.openLinks.size;
  }

  /** Blocks both directions between two machines; connections stay open, as in a real partition. */
  partition(a: string, b: string): void {
    this.stall(a, b);
    this.stall(b, a);
  }

  /** Blocks one direction. */
  stall(from: string, to: string): void {
    this.blockedRoutes.add(routeKey(from, to));
  }

  /** Ends `partition` and `stall` between two machines. Bytes in flight arrive. */
  heal(a: string, b: string): void {
    this.blockedRoutes.delete(routeKey(a, b));
    this.blockedRoutes.delete(routeKey(b, a));
    for (const link of this.openLinks) link.flow();
  }

  /** Resets the connections of one machine, or all. Listeners stay. */
  reset(machine?: string): void {
    for (const link of [...this.openLinks]) if (machine === undefined || link.touches(machine)) link.break();
  }

  /** Resets the connections of a machine and closes its listeners. */
  crash(machine: string): void {
    for (const key of [...this.listeners.keys()])
      if (key.startsWith(`${machine} `)) this.listeners.delete(key);
    this.reset(machine);
  }

  lossPerArrival(probability: number): void {
    this.lossRate = probability;
  }

  private listen(machine: string, address: Address, handler: ListenHandler): NetServer {
    const bound = this.bind(address);
    const key = listenerKey(machine, bound);
    if (this.listeners.has(key))
      this.clock.setTimer(0, () => handler.onError(new Error(`EADDRINUSE ${key}`)));
    else {
      this.listeners.set(key, handler);
      this.clock.setTimer(0, () => handler.onListening(bound));
    }
    return {
      close: (done) => {
        if (this.listeners.get(key) === handler) this.listeners.delete(key);
        this.clock.setTimer(0, done);
      },
      renew: () => undefined,
    };
  }

  private dial(from: string, address: Address, timeoutMs: number, handler: DialHandler): { cancel(): void } {
    const to = 'path' in address ? from : (address.host ?? from);
    let isDone = false;
    const finish = (run: () => void): void => {
      if (isDone) return;
      isDone = true;
      run();
    };
    const timeout = this.clock.setTimer(timeoutMs, () =>
      finish(() => handler.onError(new Error(`ETIMEDOUT ${to}`))),
    );
    this.clock.setTimer(this.latencyMs(), () => {
      if (isDone || this.blockedRoutes.has(routeKey(from, to)) || this.blockedRoutes.has(routeKey(to, from)))
        return;
      timeout.cancel();
      finish(() => this.connect(from, to, this.listeners.get(listenerKey(to, address)), handler));
    });
    return {
      cancel: () => {
        timeout.cancel();
        isDone = true;
      },
    };
  }

  private connect(from: string, to: string, listener: ListenHandler | undefined, handler: DialHandler): void {
    if (listener === undefined) return handler.onError(new Error(`ECONNREFUSED ${to}`));
    const verdict = listener.admit(from);
    if (verdict !== 'accept') return handler.onError(new Error(`ECONNRESET ${to}`));
    const conditionsOf: LinkConditions = (route, onLost, onArrived) =>
      this.conditionsOf(route, onLost, onArrived);
    const link: MemoryLink = new MemoryLink(from, to, conditionsOf, () => this.openLinks.delete(link));
    this.openLinks.add(link);
    listener.onSocket(link.accepted);
    handler.onOpen(link.dialled);
  }

  private conditionsOf(
    route: { readonly from: string; readonly to: string },
    onLost: () => void,
    onArrived: (end: 'end' | 'reset') => void,
  ): PipeConditions {
    const key = routeKey(route.from, route.to);
    return {
      random: this.random,
      after: (ms, run) => this.clock.setTimer(ms, run),
      latencyMs: () => this.latencyMs(),
      chunking: this.options.chunking ?? 'whole',
      windowBytes: this.options.windowBytes ?? 256 * 1024,
      isBlocked: () => this.blockedRoutes.has(key),
      isLost: () => this.lossRate > 0 && this.random.chance(this.lossRate),
      onLost,
      onArrived,
    };
  }

  private latencyMs(): number {
    const { from, to } = this.options.latencyMs ?? { from: 1, to: 1 };
    return from + this.random.next() * (to - from);
  }

  private bind(address: Address): Address {
    if ('path' in address || address.port !== 0) return address;
    this.nextPort += 1;
    return { ...address, port: this.nextPort };
  }
}

function routeKey(from: string, to: string): string {
  return `${from} > ${to}`;
}

function listenerKey(machine: string, address: Address): string {
  return 'path' in address ? `${machine} ${address.path}` : `${machine} ${address.port}`;
}
