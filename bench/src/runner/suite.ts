/** The conditions of one process. */
export interface RunContext {
  readonly system: string;
  /** 1 is the size of the recorded runs. */
  readonly scale: number;
  /** Counts from 0. A case may use it as a seed, so that rounds differ. */
  readonly round: number;
  /** Extra adapter files given by `--adapter`, as `file:` URLs by system name. */
  readonly adapters: Readonly<Record<string, string>>;
}

/** One run of a case. Numbers beyond the first three appear in the row under their own names. */
export interface Measurement {
  /** Work requested, in the unit of the case. */
  readonly attempted: number;
  /** Work counted by the receiver. A row is refused unless it equals `attempted`. */
  readonly completed: number;
  readonly seconds: number;
  /** False refuses the row: the work is complete but its result is wrong. */
  readonly oracle?: boolean;
  /** Latencies in milliseconds. */
  readonly p50?: number;
  readonly p99?: number;
  readonly max?: number;
  /** Bytes of heap per unit. */
  readonly heapBytes?: number;
  /**
   * Reference system over this one, above 1 if the reference is better, where both alternated in this
   * process. The ratio of the row is then taken from here: periods of a few milliseconds see the same machine
   * load, two processes do not.
   */
  readonly pairedRatio?: number;
  /** Further numbers for the row. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** A prepared case: `run` is called once per warm-up and once per sample. */
export interface Trial {
  run(): Promise<Measurement>;
  close?(): Promise<void> | void;
}

/** Repetitions of a case in one process. The time budget ends them early, after at least one sample. */
export interface Repeat {
  readonly warmups: number;
  readonly iterations: number;
  readonly budgetMs: number;
}

/** A program that runs a case outside JavaScript and prints `@sample {json}` lines, one per measured run. */
export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The number by which systems are compared. Higher is better for `opsPerSecond`, lower for the others. */
export type Headline = 'opsPerSecond' | 'p50' | 'p99' | 'max' | 'heapBytes';

/** One row per system: a workload, and the systems that can run it. */
export interface Case {
  readonly benchmark: string;
  /** One operation: `messages`, `records`, `jobs`. */
  readonly unit: string;
  /** A heading in the table and in the report. */
  readonly group?: string | undefined;
  /** A footnote: differences in semantics that matter to a reader. */
  readonly note?: string | undefined;
  readonly headline?: Headline;
  readonly systems: readonly string[];
  readonly repeat?: Partial<Repeat>;
  /** Milliseconds after which a process is killed and its row refused. */
  readonly timeoutMs?: number;
  prepare(context: RunContext): Promise<Trial> | Trial;
  /** Present for systems that are not JavaScript; `undefined` means `prepare` in a Node process. */
  command?(context: RunContext, repeat: Repeat): Promise<Command | undefined> | Command | undefined;
}

export interface Suite {
  readonly name: string;
  /** One line for the list. */
  readonly title: string;
  /** The systems without `--systems`, in table order. */
  readonly systems: readonly string[];
  readonly cases: readonly Case[];
  /** Rounds without `--rounds`; three unless given. */
  readonly rounds?: number;
  /** Skips a missing system with its reason even if it was named: npm cannot install its server. */
  readonly missingIsSkipped?: boolean;
  /** The reason why a system cannot run here, such as a peer that is not installed; `undefined` if it can. */
  missing?(system: string): Promise<string | undefined> | string | undefined;
}
