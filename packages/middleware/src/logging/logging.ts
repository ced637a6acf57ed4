import {
  type Host,
  type InvokeResult,
  type LogEntry,
  type LogLevel,
  type MessageView,
  OptionError,
  type Outcome,
  type TurnView,
} from '@troupe/core';
import { LRUMapWithDelete } from 'mnemonist';
import { boundedError } from '../bounded-error.js';
import type { Equipment } from '../equip.js';
import type { Figure, Measured } from '../figure.js';
import { aName, oneOf, onlyKnown, whole } from '../option-check.js';
import { Redaction } from './redaction.js';
import { consoleSink, type Sink } from './sink.js';

export interface LoggingOptions {
  readonly name?: string;
  /** Where lines go. Default: JSON lines on the console. */
  readonly sink?: Sink;
  /** Lines below it are not made. Default `info`. */
  readonly level?: LogLevel;
  /** One of so many turns is written down, at level `debug`; 0 for none. Default 100. */
  readonly everyTurn?: number;
  /** Payload fields never written down: names, or paths from the payload (`card.number`, `*.token`). */
  readonly redact?: readonly string[];
  /** Whether failure lines carry the payload. Default true. */
  readonly payloads?: boolean;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
/** Failures between their handler and their supervisor's decision. */
const NOTES_MAX = 1_000;

interface Note {
  readonly message: string;
  readonly payload: unknown;
  readonly logId: string;
}

/**
 * Structured lines: everything the runtime and `ctx.log` have to say, one line per failure with what its supervisor
 * decided, and a sample of turns. Needs `createEquippedSystem`; as a plain middleware it only writes the sampled turns.
 */
export function logging(options: LoggingOptions = {}): Equipment & Measured {
  onlyKnown('logging', options, ['name', 'sink', 'level', 'everyTurn', 'redact', 'payloads']);
  const log = new Logging(options);
  const { name, figures, wrapHost, afterMessage } = log;
  const base: Equipment & Measured = {
    name,
    figures,
    wrapHost,
    timesHandlers: false,
    outcomes: ['failed'],
    ...(log.wantsPayloads && { afterMessage }),
  };
  if (!log.wantsTurns) return base;
  return { ...base, beforeTurn: log.beforeTurn, afterTurn: log.afterTurn };
}

class Logging {
  readonly name: string;
  readonly wantsTurns: boolean;
  readonly wantsPayloads: boolean;
  readonly figures: readonly Figure[];
  private readonly sink: Sink;
  private readonly least: number;
  private readonly everyTurn: number;
  private readonly redaction: Redaction;
  private readonly notes = new LRUMapWithDelete<string, Note>(NOTES_MAX);
  private readonly turnIds = new WeakMap<TurnView, string>();
  private turns = 0;
  private ids = 0;
  private lost = 0;
  /** Tells the lines of this process and system from those of others. */
  private readonly origin = Math.random().toString(36).slice(2, 8);

  constructor(options: LoggingOptions) {
    this.name = aName('logging.name', options.name ?? 'logging');
    this.sink = checkSink(options.sink ?? consoleSink);
    this.least = LEVELS.indexOf(oneOf('logging.level', options.level ?? 'info', LEVELS));
    this.everyTurn = whole('logging.everyTurn', options.everyTurn ?? 100, 0);
    this.redaction = new Redaction(checkList(options.redact ?? []));
    this.wantsTurns = this.least === 0 && this.everyTurn > 0;
    this.wantsPayloads = options.payloads ?? true;
    this.figures = [
      {
        name: 'troupe.logging.lost',
        kind: 'counter',
        unit: '{line}',
        about: 'Lines that the sink threw on.',
        labels: { 'troupe.middleware.name': this.name },
        read: () => this.lost,
      },
    ];
  }

  readonly wrapHost = (host: Host): Host => ({
    now: () => host.now(),
    wallNow: () => host.wallNow(),
    random: () => host.random(),
    setTimer: (ms, run) => host.setTimer(ms, run),
    soon: (run) => host.soon(run),
    later: (run) => host.later(run),
    log: (entry) => this.write(entry),
  });

  readonly afterMessage = (message: MessageView, outcome: Outcome): undefined => {
    if (outcome.kind !== 'failed') return;
    const { path, payload } = message;
    // The copy, which is bounded: a failure that is tried again is never written down, and its note stays for a while.
    const copy = this.redaction.copyOf(payload);
    this.notes.set(path, { message: message.message, payload: copy, logId: this.nextId() });
  };

  readonly beforeTurn = (turn: TurnView): void => {
    this.turns += 1;
    if (this.turns % this.everyTurn !== 0) return;
    const logId = this.nextId();
    this.turnIds.set(turn, logId);
    this.line('debug', { logId, path: turn.path, actor: turn.actor, depth: turn.depth }, 'turn begins');
  };

  readonly afterTurn = (turn: TurnView, result: InvokeResult): void => {
    const logId = this.turnIds.get(turn);
    if (logId === undefined) return;
    const { path, actor, handled } = turn;
    const ms = turn.endedAt - turn.startedAt;
    this.line('debug', { logId, path, actor, handled, ms, result: result.kind }, 'turn ended');
  };

  private write(entry: LogEntry): void {
    const { error, ...rest } = entry.fields;
    const fields = this.redaction.copyOf(rest) as Record<string, unknown>;
    if (error !== undefined) fields['err'] = error instanceof Error ? boundedError(error) : error;
    if (typeof rest['directive'] === 'string') Object.assign(fields, this.noteOn(rest));
    this.line(entry.level, fields, entry.message);
  }

  /** The payload of the message whose failure was just decided about. */
  private noteOn(fields: Readonly<Record<string, unknown>>): { logId: string; payload?: unknown } {
    const path = String(fields['path']);
    const note = this.notes.get(path);
    if (note === undefined || note.message !== fields['message']) return { logId: this.nextId() };
    this.notes.delete(path);
    return { logId: note.logId, payload: note.payload };
  }

  private line(level: LogLevel, fields: Readonly<Record<string, unknown>>, text: string): void {
    if (LEVELS.indexOf(level) < this.least) return;
    try {
      this.sink[level](fields, text);
    } catch {
      // A sink that throws must not take the actor down that the line is about.
      this.lost += 1;
    }
  }

  private nextId(): string {
    this.ids += 1;
    return `${this.origin}-${this.ids.toString(36)}`;
  }
}

function checkSink(sink: Sink): Sink {
  for (const level of LEVELS) {
    if (typeof sink[level] !== 'function')
      throw new OptionError(`logging.sink.${level}`, sink[level], 'needed a function (fields, text)');
  }
  return sink;
}

function checkList(list: readonly string[]): readonly string[] {
  if (!Array.isArray(list) || !list.every((entry) => typeof entry === 'string' && entry.length > 0))
    throw new OptionError('logging.redact', list, 'needed a list of names and paths');
  return list;
}
