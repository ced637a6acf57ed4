/** What the runner tells a case about the process it runs in. */
export interface RunContext {
  readonly system: string;
  /** 1 is the size the figures in the docs are taken at. */
  readonly scale: number;
  /** Counts from 0; a case may use it as a seed so that rounds differ. */
  readonly round: number;
  /** Extra adapter files given by `--adapter`, as `file:` URLs by system name. */
  readonly adapters: Readonly<Record<string, string>>;
}

/** What one run of a case did. Everything numeric beyond the first three ends up in the row under its own name. */
export interface Measurement {
  /** Work asked for, in the case's unit. */
  readonly attempted: number;
  /** Work counted where it ends (by the receiver). A row is refused unless it equals `attempted`. */
  readonly completed: number;
  readonly seconds: number;
  /** False refuses the row: the work was done but its result is wrong. */
  readonly oracle?: boolean;
  /** Latencies in milliseconds. */
  readonly p50?: number;
  readonly p99?: number;
  readonly max?: number;
  /** Bytes of heap per unit. */
  readonly heapBytes?: number;
  /**
   * How many times better the reference system did the same work, when both ran in turns in this one process. The
   * ratio of the row is then taken from here: turns of a few milliseconds see the same machine, two processes do not.
   */
  readonly inTurns?: number;
  /** Any other figure a row should carry. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** A case made ready in its process: `run` is called once per warm-up and once per sample. */
export interface Trial {
  run(): Promise<Measurement>;
  close?(): Promise<void> | void;
}

/** How often one process repeats a case. The budget ends the repetition early, after at least one sample. */
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

/** The figure by which systems are compared: `opsPerSecond` higher is better, every other one lower is better. */
export type Headline = 'opsPerSecond' | 'p50' | 'p99' | 'max' | 'heapBytes';

/** One row per system: a workload, and the systems that can run it. */
export interface Case {
  readonly benchmark: string;
  /** What one operation is: `messages`, `records`, `jobs`. */
  readonly unit: string;
  /** A heading in the table and in the report. */
  readonly group?: string;
  /** A footnote: semantic differences a reader must know of. */
  readonly note?: string;
  readonly headline?: Headline;
  readonly systems: readonly string[];
  readonly repeat?: Partial<Repeat>;
  /** Milliseconds after which a process is ended and its row refused. */
  readonly timeoutMs?: number;
  prepare(context: RunContext): Promise<Trial> | Trial;
  /** Present for systems that are not JavaScript; `undefined` means `prepare` in a Node process. */
  command?(context: RunContext, repeat: Repeat): Promise<Command | undefined> | Command | undefined;
}

export interface Suite {
  readonly name: string;
  /** One line for the list. */
  readonly title: string;
  /** Run when `--systems` is not given, in this order; the first is the one the ratios are of. */
  readonly systems: readonly string[];
  readonly cases: readonly Case[];
  /** Default rounds; three unless given. */
  readonly rounds?: number;
  /** A system that is missing is skipped with its reason even when it was named: its server is not npm's to bring. */
  readonly missingIsSkipped?: boolean;
  /** Why a system cannot run here (a peer that is not installed), or `undefined`. */
  missing?(system: string): Promise<string | undefined> | string | undefined;
}
