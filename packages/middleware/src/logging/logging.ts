import type {
  Host,
  InvokeResult,
  LogEntry,
  LogLevel,
  MessageView,
  Middleware,
  Outcome,
  TurnView,
} from '@troupe/core';
import {
  checkOptions,
  flag,
  listOf,
  name,
  type OptionRule,
  oneOf,
  wholeNumber,
} from '@troupe/core/option-check';
import { LRUMapWithDelete } from 'mnemonist';
import type { Metric, MetricSource } from '../metric.js';
import { truncateError } from '../truncate-error.js';
import { consoleLogger, type Logger } from './logger.js';
import { Redaction } from './redaction.js';

export interface LoggingOptions {
  /** The name in metrics and errors. Default `logging`. */
  readonly name?: string | undefined;
  /** Receives the lines. Default: JSON lines on the console. */
  readonly logger?: Logger | undefined;
  /** Lines below this level are not written. Default `info`. */
  readonly level?: LogLevel | undefined;
  /** Every n-th turn is logged at level `debug`; 0 for none. Default 100. */
  readonly everyNthTurn?: number | undefined;
  /** Payload fields that are never logged: names, or paths from the payload (`card.number`, `*.token`). */
  readonly redact?: readonly string[] | undefined;
  /** Whether failure lines carry the payload. Default true. */
  readonly payloads?: boolean | undefined;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];
const logger: OptionRule = (value, option) => {
  const missing = LEVELS.find((level) => typeof (value as Partial<Logger> | null)?.[level] !== 'function');
  if (missing === undefined) return undefined;
  return { option: `${option}.${missing}`, value, problem: 'needed a function (fields, text)' };
};

/** Failed messages whose supervisor has not decided yet. */
const UNDECIDED_MAX = 1_000;

interface FailedMessage {
  readonly message: string;
  readonly payload: unknown;
  readonly logId: string;
}

/**
 * Structured log lines: those of the runtime and of `ctx.log`, one line per failure with its supervisor's
 * decision, and a sample of turns. For a whole system: on one definition it logs the sampled turns only.
 */
export function logging(options: LoggingOptions = {}): Middleware & MetricSource {
  checkOptions('logging', options, {
    name,
    logger,
    level: oneOf(LEVELS),
    everyNthTurn: wholeNumber(0),
    redact: listOf(name),
    payloads: flag,
  });
  const log = new LoggingMiddleware(options);
  const { metrics, wrapHost, afterMessage } = log;
  const base: Middleware & MetricSource = {
    name: log.name,
    metrics,
    wrapHost,
    timesHandlers: false,
    outcomes: ['failed'],
    ...(log.wantsPayloads && { afterMessage }),
  };
  if (!log.wantsTurns) return base;
  return { ...base, beforeTurn: log.beforeTurn, afterTurn: log.afterTurn };
}

class LoggingMiddleware {
  readonly name: string;
  readonly wantsTurns: boolean;
  readonly wantsPayloads: boolean;
  readonly metrics: readonly Metric[];
  private readonly logger: Logger;
  private readonly levelMin: number;
  private readonly everyNthTurn: number;
  private readonly redaction: Redaction;
  /** By path of the actor. */
  private readonly undecided = new LRUMapWithDelete<string, FailedMessage>(UNDECIDED_MAX);
  private readonly turnIds = new WeakMap<TurnView, string>();
  private turns = 0;
  private ids = 0;
  private lost = 0;
  /** Prefix of log ids: unique per process and system. */
  private readonly idPrefix = Math.random().toString(36).slice(2, 8);

  constructor(options: LoggingOptions) {
    this.name = options.name ?? 'logging';
    this.logger = options.logger ?? consoleLogger;
    this.levelMin = LEVELS.indexOf(options.level ?? 'info');
    this.everyNthTurn = options.everyNthTurn ?? 100;
    this.redaction = new Redaction(options.redact ?? []);
    this.wantsTurns = this.levelMin === 0 && this.everyNthTurn > 0;
    this.wantsPayloads = options.payloads ?? true;
    this.metrics = [
      {
        name: 'troupe.logging.lost',
        kind: 'counter',
        unit: '{line}',
        description: 'Lines lost because the logger threw.',
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
    // A bounded copy: the entry of a message that is retried stays until the list is full.
    const copy = this.redaction.copyOf(payload);
    this.undecided.set(path, { message: message.message, payload: copy, logId: this.nextId() });
  };

  readonly beforeTurn = (turn: TurnView): void => {
    this.turns += 1;
    if (this.turns % this.everyNthTurn !== 0) return;
    const logId = this.nextId();
    this.turnIds.set(turn, logId);
    this.log('debug', { logId, path: turn.path, actor: turn.actor, depth: turn.depth }, 'turn begins');
  };

  readonly afterTurn = (turn: TurnView, result: InvokeResult): void => {
    const logId = this.turnIds.get(turn);
    if (logId === undefined) return;
    const { path, actor, handled } = turn;
    const ms = turn.endedAt - turn.startedAt;
    this.log('debug', { logId, path, actor, handled, ms, result: result.kind }, 'turn ended');
  };

  private write(entry: LogEntry): void {
    const { error, ...rest } = entry.fields;
    const fields = this.redaction.copyOf(rest) as Record<string, unknown>;
    if (error !== undefined) fields['err'] = error instanceof Error ? truncateError(error) : error;
    if (typeof rest['directive'] === 'string') Object.assign(fields, this.takeUndecided(rest));
    this.log(entry.level, fields, entry.message);
  }

  /** The log id and payload of the message whose failure the supervisor has just decided. */
  private takeUndecided(fields: Readonly<Record<string, unknown>>): { logId: string; payload?: unknown } {
    const path = String(fields['path']);
    const failed = this.undecided.get(path);
    if (failed === undefined || failed.message !== fields['message']) return { logId: this.nextId() };
    this.undecided.delete(path);
    return { logId: failed.logId, payload: failed.payload };
  }

  private log(level: LogLevel, fields: Readonly<Record<string, unknown>>, text: string): void {
    if (LEVELS.indexOf(level) < this.levelMin) return;
    try {
      this.logger[level](fields, text);
    } catch {
      // A logger that throws must not fail the actor that the line is about.
      this.lost += 1;
    }
  }

  private nextId(): string {
    this.ids += 1;
    return `${this.idPrefix}-${this.ids.toString(36)}`;
  }
}
