import type { Clock } from '../net/clock.js';
import type { Address, DialHandler, ListenHandler, Net, NetServer } from '../net/net.js';
import { Chance } from './chance.js';
import { type LinkConditions, MemoryLink } from './memory-link.js';
import type { PipeConditions } from './memory-pipe.js';

export interface MemoryNetworkOptions {
  readonly clock: Clock;
  readonly seed?: number;
  /** Each arrival takes between these; 1 to 1 unless given. */
  readonly latencyMs?: { readonly from: number; readonly to: number };
  readonly chunking?: 'whole' | 'random' | 'byte';
  /** Chance that a connection is lost with an arrival. */
  readonly lossPerArrival?: number;
  /** Bytes on the way in one direction before the writer is told to stop. */
  readonly windowBytes?: number;
}

const PORT_FIRST = 40_000;

/**
 * A network in memory, driven by a clock and a seed alone. Each machine is a `Net` of its own; its name is the host others dial, while
 * it binds 127.0.0.1 itself, so that listeners need neither keys nor TLS.
 */
export class MemoryNetwork {
  private readonly clock: Clock;
  private readonly random: Chance;
  private readonly options: MemoryNetworkOptions;
  private readonly listeners = new Map<string, ListenHandler>();
  private readonly openLinks = new Set<MemoryLink>();
  private readonly blockedWays = new Set<string>();
  private nextPort = PORT_FIRST;
  private lossRate: number;

  constructor(options: MemoryNetworkOptions) {
    this.clock = options.clock;
    this.options = options;
    this.random = new Chance(options.seed ?? 1);
    this.lossRate = options.lossPerArrival ?? 0;
  }

  /** The network as `name` sees it. */
  machine(name: string): Net {
    return {
      listen: ({ address }, handler) => this.listen(name, address, handler),
      dial: ({ address, timeoutMs }, handler) => this.dial(name, address, timeoutMs, handler),
      randomBytes: (bytes) => this.random.bytes(bytes),
    };
  }

  /** Connections open now. */
  get linkCount(): number {
    return this.openLinks.size;
  }

  /** Nothing passes between the two, either way; connections stay, as in a real partition. */
  partition(a: string, b: string): void {
    this.stall(a, b);
    this.stall(b, a);
  }

  /** Nothing passes from `from` to `to`; the other way is open. */
  stall(from: string, to: string): void {
    this.blockedWays.add(routeKey(from, to));
  }

  /** Undoes `partition` and `stall` between the two. What was on the way arrives. */
  heal(a: string, b: string): void {
    this.blockedWays.delete(routeKey(a, b));
    this.blockedWays.delete(routeKey(b, a));
    for (const link of this.openLinks) link.flow();
  }

  /** Loses every connection of a machine, or all; both ends see a reset. The machine's listeners stay. */
  reset(machine?: string): void {
    for (const link of [...this.openLinks]) if (machine === undefined || link.touches(machine)) link.break();
  }

  /** The machine is gone: its connections are lost and its listeners closed. */
  crash(machine: string): void {
    for (const key of [...this.listeners.keys()])
      if (key.startsWith(`${machine} `)) this.listeners.delete(key);
    this.reset(machine);
  }

  lossPerArrival(chance: number): void {
    this.lossRate = chance;
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
    let settled = false;
    const settle = (run: () => void): void => {
      if (settled) return;
      settled = true;
      run();
    };
    const timeout = this.clock.setTimer(timeoutMs, () =>
      settle(() => handler.onError(new Error(`ETIMEDOUT ${to}`))),
    );
    this.clock.setTimer(this.latencyMs(), () => {
      if (settled || this.blockedWays.has(routeKey(from, to)) || this.blockedWays.has(routeKey(to, from)))
        return;
      timeout.cancel();
      settle(() => this.connect(from, to, this.listeners.get(listenerKey(to, address)), handler));
    });
    return {
      cancel: () => {
        timeout.cancel();
        settled = true;
      },
    };
  }

  private connect(from: string, to: string, listener: ListenHandler | undefined, handler: DialHandler): void {
    if (listener === undefined) return handler.onError(new Error(`ECONNREFUSED ${to}`));
    const verdict = listener.admit(from);
    if (verdict !== 'accept') return handler.onError(new Error(`ECONNRESET ${to}`));
    const world: LinkConditions = (way, broken, arrived) => this.conditionsOf(way, broken, arrived);
    const link: MemoryLink = new MemoryLink(from, to, world, () => this.openLinks.delete(link));
    this.openLinks.add(link);
    listener.onSocket(link.accepted);
    handler.onOpen(link.dialled);
  }

  private conditionsOf(
    way: { readonly from: string; readonly to: string },
    broken: () => void,
    arrived: (what: 'end' | 'reset') => void,
  ): PipeConditions {
    const key = routeKey(way.from, way.to);
    return {
      chance: this.random,
      after: (ms, run) => this.clock.setTimer(ms, run),
      latencyMs: () => this.latencyMs(),
      chunking: this.options.chunking ?? 'whole',
      windowBytes: this.options.windowBytes ?? 256 * 1024,
      isBlocked: () => this.blockedWays.has(key),
      connectionLost: () => this.lossRate > 0 && this.random.next() < this.lossRate,
      onLost: broken,
      onArrived: arrived,
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
