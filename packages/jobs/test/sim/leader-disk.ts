import {
  type Fault,
  type FaultyStorage,
  PERSISTENCE_MODELS,
  SimulatedDisk,
  type StorageCall,
  type StorageOperation,
} from '@troupe/wal/testing';
import type { SimulatedMachine, Simulation } from './simulation.js';

type StorageOptions = ConstructorParameters<typeof FaultyStorage>[0];
export type MakeStorage = (options: StorageOptions) => FaultyStorage;

export interface Damage {
  readonly name: string;
  readonly offset: number;
  readonly mask: number;
}

/** Where a disk was damaged; for planted bugs that make a mess of it. */
const damages = new WeakMap<SimulatedDisk, Damage>();
export function damageOf(disk: SimulatedDisk): Damage | undefined {
  return damages.get(disk);
}

interface Trouble {
  readonly on: readonly StorageOperation[];
  readonly fault: Fault;
}

const error = (errno: string): Fault => ({ kind: 'error', errno });

/** One call that goes wrong, as the system reports it: a write that is cut short says so by its length alone. */
const TROUBLES: readonly Trouble[] = [
  { on: ['write'], fault: error('EIO') },
  { on: ['write'], fault: error('ENOSPC') },
  { on: ['write'], fault: { kind: 'short', bytes: 100 } },
  { on: ['sync'], fault: error('EIO') },
  { on: ['sync'], fault: error('ENOSPC') },
  { on: ['read'], fault: error('EIO') },
  { on: ['open', 'rename'], fault: error('EMFILE') },
  { on: ['syncDir', 'unlink', 'truncate'], fault: error('EIO') },
];

/** The leader's disk: what its calls report, what a crash leaves of it, and what rots on it while nobody looks. */
export class LeaderDisk {
  errors = 0;
  /** A call of the leader that runs now went wrong, or the bytes it started from are damaged: it may end, and may refuse to start. */
  isExcused = false;
  private readonly world: Simulation;
  private readonly random: () => number;
  private readonly make: MakeStorage;
  private readonly slowestMs: number;
  private disk = new SimulatedDisk();
  private storage: FaultyStorage | undefined = undefined;
  private armed: Trouble | undefined = undefined;
  private damage: Damage | undefined = undefined;
  private livesWithDamage = false;

  constructor(world: Simulation, make: MakeStorage, slowestMs: number) {
    this.world = world;
    this.random = world.stream('disk faults');
    this.make = make;
    this.slowestMs = slowestMs;
  }

  /** For a leader that starts. */
  open(node: SimulatedMachine): FaultyStorage {
    const latency = this.world.stream(`disk:${node.life}`);
    this.isExcused = this.damage !== undefined || this.livesWithDamage || this.isFull;
    this.storage = this.make({
      disk: this.disk,
      fault: (call) => this.faultOf(call),
      schedule: (complete) => {
        this.world.at(this.world.now + latency() * this.slowestMs, node, complete);
      },
    });
    return this.storage;
  }

  /** The next call of some kind goes wrong, once. */
  arm(): void {
    this.armed = TROUBLES[Math.floor(this.random() * TROUBLES.length)];
  }

  /** Every byte is taken, for a while. */
  fill(ms: number): void {
    this.disk.capacityBytes = this.disk.usedBytes;
    this.isExcused = true;
    this.world.at(this.world.now + ms, undefined, () => this.empty());
  }

  heal(): void {
    this.armed = undefined;
    this.empty();
  }

  /** Power is cut: of what was not synced anything may be left. */
  cutPower(random: () => number): void {
    this.storage?.crash();
    const model = PERSISTENCE_MODELS[Math.floor(random() * PERSISTENCE_MODELS.length)] ?? 'drop';
    const { capacityBytes } = this.disk;
    this.disk = this.disk.afterCrash(model, Math.floor(random() * 2 ** 31));
    this.disk.capacityBytes = capacityBytes;
  }

  /** The leader has ended by itself; the machine goes on, or, half of the time, does not. */
  leave(): void {
    if (this.random() < 0.5) return this.cutPower(this.random);
    this.storage?.crash();
    this.disk.isLocked = false;
  }

  /**
   * One bit of a file that is complete turns over while no leader runs. The last segment that was written is left alone, and the empty one
   * behind it: there the last batch, if it is damaged, looks as one that was never finished (D5).
   */
  rot(): void {
    if (this.damage !== undefined || this.livesWithDamage) return;
    const files = [...this.disk.files()].filter(([, bytes]) => bytes.length > 0);
    const newest = Math.max(...files.map(([name]) => segmentOf(name)));
    const whole = files.filter(([name]) => segmentOf(name) < newest - 1 && !isPassing(name));
    const [name, bytes] = whole[Math.floor(this.random() * whole.length)] ?? [];
    if (name === undefined || bytes === undefined) return;
    const offset = Math.floor(this.random() * bytes.length);
    this.damage = { name, offset, mask: 1 << Math.floor(this.random() * 8) };
    this.disk.flipBits(name, offset, this.damage.mask);
    damages.set(this.disk, this.damage);
  }

  /** A leader would not start with it: somebody has brought the file back from a copy. */
  repair(): void {
    const { damage } = this;
    if (damage === undefined) return;
    this.damage = undefined;
    damages.delete(this.disk);
    // A snapshot that cannot be used may be gone by now.
    if ((this.disk.file(damage.name)?.content.length ?? 0) > damage.offset)
      this.disk.flipBits(damage.name, damage.offset, damage.mask);
  }

  /** A leader has started: what is damaged it did not need. It may find out later. */
  started(): void {
    if (this.damage === undefined) return;
    this.damage = undefined;
    this.livesWithDamage = true;
  }

  /** What a leader would find that starts after power was cut now. */
  durable(): SimulatedDisk {
    return this.disk.afterCrash('drop', 1);
  }

  private get isFull(): boolean {
    return Number.isFinite(this.disk.capacityBytes);
  }

  private empty(): void {
    this.disk.capacityBytes = Number.POSITIVE_INFINITY;
  }

  private faultOf(call: StorageCall): Fault | undefined {
    const { armed } = this;
    if (armed === undefined || !armed.on.includes(call.operation)) return undefined;
    this.armed = undefined;
    this.errors += 1;
    this.isExcused = true;
    return armed.fault;
  }
}

function isPassing(name: string): boolean {
  return name === 'LOCK' || name.endsWith('.tmp');
}

/** The number of a segment; 0 for other files. */
function segmentOf(name: string): number {
  return Number.parseInt(/(\d+)\.seg$/.exec(name)?.[1] ?? '0', 10);
}
