import type { Client } from '@troupe/jobs';
import type { AssignRecord } from '#src/ledger/ledger-record.js';
import type { AdminAnswer } from '#src/protocol/client/admin-messages.js';
import type { LeaderProbe } from '../simulated-leaders.js';
import type { SimulatedMachine, Simulation } from '../simulation.js';
import { OpenCalls } from './open-calls.js';

interface Setup {
  readonly simulation: Simulation;
  /** How many leaders have opened the log: a stop is in the memory of one. */
  leaderStarts(): number;
  /** Whether one leader has been up, with its log open and without a pause, for so long. */
  leaderHasRunFor(ms: number): boolean;
}

/** A stop that its operator knows of. */
interface Stop {
  readonly worker: string;
  /** In record time. */
  readonly at: number;
  readonly leader: number;
}

interface Request {
  readonly workers: readonly string[];
  readonly withinMs: number;
}

const STOPS_MAX = 4;
const DRAIN_MAX_MS = 400;
/** Its connection may be cut, and machines paused, before it learns of its stop. */
const ENDED_MS = 3_000;
const EXPECTED = ['ERR_WORKER_UNKNOWN', 'ERR_CALL_UNSUPPORTED'];

/** Operators that stop workers: each such process gets no more jobs, and ends. */
export class StoppedWorkers {
  private readonly setup: Setup;
  private readonly random: () => number;
  private readonly count: number;
  private readonly calls: OpenCalls;
  /** By connection and call. */
  private readonly requests = new Map<string, Request>();
  private stops: Stop[] = [];

  constructor(setup: Setup, isGiven: boolean) {
    this.setup = setup;
    this.random = setup.simulation.stream('stops');
    this.count = this.random() < 0.3 || isGiven ? 1 + Math.floor(this.random() * STOPS_MAX) : 0;
    this.calls = new OpenCalls(setup.simulation, EXPECTED);
  }

  get isSettled(): boolean {
    return this.calls.isSettled;
  }

  /** From now on, in milliseconds. */
  actionTimes(withinMs: number): number[] {
    return Array.from({ length: this.count }, () => this.random() * Math.max(0, withinMs));
  }

  clientCrashed(machine: SimulatedMachine): void {
    this.calls.clientCrashed(machine);
  }

  act(client: Client, machine: SimulatedMachine, leader: LeaderProbe | undefined): void {
    const sessions = [...(leader?.fleet.sessions.values() ?? [])];
    const session = sessions[Math.floor(this.random() * sessions.length)];
    if (session === undefined) return;
    const worker = this.random() < 0.5 ? session.worker : session.name;
    const drainMs = Math.floor(this.random() * DRAIN_MAX_MS);
    void this.calls.call(machine, () => client.workers.stop(worker, { drainMs }));
  }

  /** A leader gets the call: the processes that it is about. */
  requested(call: string, { worker, withinMs }: { worker: string; withinMs: number }, leader: LeaderProbe) {
    const sessions = [...leader.fleet.sessions.values()];
    const workers = sessions.filter((one) => one.open && (one.worker === worker || one.name === worker));
    this.requests.set(call, { workers: workers.map(({ name }) => name), withinMs });
  }

  /** The answer leaves the leader. */
  answered(call: string, answer: AdminAnswer, leader: LeaderProbe): void {
    const request = this.requests.get(call);
    if (request === undefined || answer.kind !== 'count') return;
    const { leaderStarts } = this.setup;
    for (const worker of request.workers) {
      const stop = { worker, at: leader.recordTime, leader: leaderStarts() };
      this.stops.push(stop);
      this.checkLater(stop, leader, request.withinMs + ENDED_MS);
    }
  }

  assigned({ job, worker, at }: AssignRecord): void {
    const isStopped = (stop: Stop): boolean => stop.worker === worker && at > stop.at && this.isKnown(stop);
    if (this.stops.some(isStopped))
      this.setup.simulation.problem(`job ${job} goes to ${worker}, which is stopped`);
  }

  private checkLater(stop: Stop, leader: LeaderProbe, ms: number): void {
    const { simulation } = this.setup;
    simulation.at(simulation.now + ms, undefined, () => this.checkEnd(stop, leader));
  }

  /** A leader that is paused ends nothing, and the ends of attempts cannot be written while the disk is full. */
  private checkEnd(stop: Stop, leader: LeaderProbe): void {
    const isOpen = leader.fleet.sessions.get(stop.worker)?.open === true;
    if (!isOpen || !this.isKnown(stop)) return;
    if (leader.diskLow || !this.setup.leaderHasRunFor(ENDED_MS)) this.checkLater(stop, leader, ENDED_MS);
    else this.setup.simulation.problem(`worker ${stop.worker} is stopped, and goes on`);
  }

  private isKnown(stop: Stop): boolean {
    return stop.leader === this.setup.leaderStarts();
  }
}
