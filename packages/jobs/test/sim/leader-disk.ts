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

/** Where a disk is damaged, for planted bugs. */
const damages = new WeakMap<SimulatedDisk, Damage>();
export function damageOf(disk: SimulatedDisk): Damage | undefined {
  return damages.get(disk);
}

interface ArmedFault {
  readonly on: readonly StorageOperation[];
  readonly fault: Fault;
}

const error = (errno: string): Fault => ({ kind: 'error', errno });

/** Failures of one call, as the system reports them: a short write shows only by its length. */
const CALL_FAULTS: readonly ArmedFault[] = [
  { on: ['write'], fault: error('EIO') },
  { on: ['write'], fault: error('ENOSPC') },
  { on: ['write'], fault: { kind: 'short', bytes: 100 } },
  { on: ['sync'], fault: error('EIO') },
  { on: ['sync'], fault: error('ENOSPC') },
  { on: ['read'], fault: error('EIO') },
  { on: ['open', 'rename'], fault: error('EMFILE') },
  { on: ['syncDir', 'unlink', 'truncate'], fault: error('EIO') },
];

/** The disk as one leader has it open. */
export interface LeaderStorage {
  readonly storage: FaultyStorage;
  /** A call of this leader has failed, or its disk is damaged: it may exit, and may refuse to start. */
  isExcused: boolean;
  /** The claims of the directory are numbered: the last one owns it. 0: not yet. */
  claimNo: number;
}

/** The disk of the leaders, with failing calls, power cuts, and bits that flip while no leader runs. */
export class LeaderDisk {
  errors = 0;
  /** A call has failed, the disk was full, or bytes on it are damaged. */
  hasFailed = false;
  private readonly simulation: Simulation;
  private readonly random: () => number;
  private readonly make: MakeStorage;
  private readonly slowestMs: number;
  private disk = new SimulatedDisk();
  private readonly opened = new Set<LeaderStorage>();
  private claims = 0;
  private armed: ArmedFault | undefined = undefined;
  private damage: Damage | undefined = undefined;
  private hasUnnoticedDamage = false;
  /** A segment with zeros at its end, and its content before. */
  private zeroed: { readonly name: string; readonly content: Buffer } | undefined = undefined;

  constructor(simulation: Simulation, make: MakeStorage, slowestMs: number) {
    this.simulation = simulation;
    this.random = simulation.stream('disk faults');
    this.make = make;
    this.slowestMs = slowestMs;
  }

  /** The storage of a leader that starts. */
  open(machine: SimulatedMachine, { ignoresLock }: { readonly ignoresLock: boolean }): LeaderStorage {
    const latency = this.simulation.stream(`disk:${machine.name}:${machine.incarnation}`);
    const storage = this.make({
      disk: this.disk,
      ignoresLock,
      fault: (call) => this.faultOf(call, opened),
      afterCall: ({ operation, name }) => {
        if (operation !== 'write' || name !== 'EPOCH') return;
        this.claims += 1;
        opened.claimNo = this.claims;
      },
      schedule: (complete) => {
        this.simulation.at(this.simulation.now + latency() * this.slowestMs, machine, complete);
      },
    });
    const isDamaged = this.damage !== undefined || this.zeroed !== undefined || this.hasUnnoticedDamage;
    const isExcused = isDamaged || this.isFull;
    const opened: LeaderStorage = { storage, isExcused, claimNo: 0 };
    this.opened.add(opened);
    return opened;
  }

  /** The next call of one kind fails, once. */
  arm(): void {
    this.armed = CALL_FAULTS[Math.floor(this.random() * CALL_FAULTS.length)];
  }

  /** The disk is full for a while. */
  fill(ms: number): void {
    this.disk.capacityBytes = this.disk.usedBytes;
    this.hasFailed = true;
    for (const opened of this.opened) opened.isExcused = true;
    this.simulation.at(this.simulation.now + ms, undefined, () => this.empty());
  }

  heal(): void {
    this.armed = undefined;
    this.empty();
  }

  /** Power is cut: any part of the unsynced data may be left. */
  cutPower(random: () => number): void {
    for (const { storage } of this.opened) storage.crash();
    this.opened.clear();
    const model = PERSISTENCE_MODELS[Math.floor(random() * PERSISTENCE_MODELS.length)] ?? 'drop';
    const { capacityBytes } = this.disk;
    this.disk = this.disk.afterCrash(model, Math.floor(random() * 2 ** 31));
    this.disk.capacityBytes = capacityBytes;
  }

  /** A leader has exited. If it was the only one, its machine loses power too, half of the time. */
  leaderExited(leader: LeaderStorage): void {
    leader.storage.crash();
    this.opened.delete(leader);
    if (this.opened.size === 0 && this.random() < 0.5) return this.cutPower(this.random);
    this.disk.isLocked = false;
  }

  /**
   * One bit of a complete file flips while no leader runs. The last written segment and the empty one behind
   * it are spared: a damaged last batch looks like one that was never finished.
   */
  flipBit(): void {
    if (this.damage !== undefined || this.zeroed !== undefined || this.hasUnnoticedDamage) return;
    const files = [...this.disk.files()].filter(([, bytes]) => bytes.length > 0);
    const newest = Math.max(...files.map(([name]) => segmentOf(name)));
    const whole = files.filter(([name]) => segmentOf(name) < newest - 1 && !isTemporary(name));
    const [name, bytes] = whole[Math.floor(this.random() * whole.length)] ?? [];
    if (name === undefined || bytes === undefined) return;
    const offset = Math.floor(this.random() * bytes.length);
    this.damage = { name, offset, mask: 1 << Math.floor(this.random() * 8) };
    this.disk.flipBits(name, offset, this.damage.mask);
    this.hasFailed = true;
    damages.set(this.disk, this.damage);
  }

  /** The end of the last written segment becomes zeros while no leader runs. */
  zeroTail(): void {
    if (this.damage !== undefined || this.zeroed !== undefined) return;
    const segments = [...this.disk.files()].filter(([name]) => segmentOf(name) > 0).sort(bySegment);
    const [name, content] = segments.findLast(([, bytes]) => lastPageOf(bytes) > 0) ?? [];
    if (name === undefined || content === undefined) return;
    this.zeroed = { name, content };
    this.hasFailed = true;
    const page = 1 + Math.floor(this.random() * lastPageOf(content));
    this.overwrite(name, Buffer.alloc(content.length - page * PAGE_BYTES), page * PAGE_BYTES);
  }

  private overwrite(name: string, bytes: Buffer, position: number): void {
    const file = this.disk.file(name);
    file?.write(bytes, position);
    file?.sync();
  }

  /** A leader has refused to start: the file is restored from a copy. */
  repair(): void {
    const { damage, zeroed } = this;
    if (zeroed !== undefined) this.overwrite(zeroed.name, zeroed.content, 0);
    this.zeroed = undefined;
    if (damage === undefined) return;
    this.damage = undefined;
    damages.delete(this.disk);
    // A damaged snapshot may have been removed by now.
    if ((this.disk.file(damage.name)?.content.length ?? 0) > damage.offset)
      this.disk.flipBits(damage.name, damage.offset, damage.mask);
  }

  /** A leader has started without reading the damage. It may meet it later. */
  leaderStarted(): void {
    this.zeroed = undefined;
    if (this.damage === undefined) return;
    this.damage = undefined;
    this.hasUnnoticedDamage = true;
  }

  /** The disk as the next leader finds it. */
  get current(): SimulatedDisk {
    return this.disk;
  }

  /** The content of every file. */
  content(): string {
    return [...this.disk.files()].map(([name, bytes]) => `${name} ${bytes.toString('base64')}`).join('\n');
  }

  /** The disk as it would be after a power cut now. */
  durable(): SimulatedDisk {
    return this.disk.afterCrash('drop', 1);
  }

  private get isFull(): boolean {
    return Number.isFinite(this.disk.capacityBytes);
  }

  private empty(): void {
    this.disk.capacityBytes = Number.POSITIVE_INFINITY;
  }

  private faultOf(call: StorageCall, caller: LeaderStorage): Fault | undefined {
    const { armed } = this;
    if (armed === undefined || !armed.on.includes(call.operation)) return undefined;
    this.armed = undefined;
    this.errors += 1;
    this.hasFailed = true;
    caller.isExcused = true;
    return armed.fault;
  }
}

function isTemporary(name: string): boolean {
  return name === 'LOCK' || name.endsWith('.tmp');
}

/** The number of a segment; 0 for other files. */
function segmentOf(name: string): number {
  return Number.parseInt(/(\d+)\.seg$/.exec(name)?.[1] ?? '0', 10);
}

const PAGE_BYTES = 4_096;

/** The last page that is not zeros; 0: only the header. */
function lastPageOf(segment: Buffer): number {
  for (let page = Math.ceil(segment.length / PAGE_BYTES) - 1; page > 0; page -= 1)
    if (segment.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES).some((byte) => byte !== 0)) return page;
  return 0;
}

function bySegment([a]: readonly [string, Buffer], [b]: readonly [string, Buffer]): number {
  return segmentOf(a) - segmentOf(b);
}
