// Hot path: every end of a task of a pool thread.

import type { MessagePort } from 'node:worker_threads';
import { errorRecord } from '../../thread/error-record.js';
import { findNotCloneable } from '../../thread/find-not-cloneable.js';
import { NotCloneableError } from '../../thread/thread-errors.js';
import { transferListOf } from '../../value/transfer.js';
import type { FromThread, KnownError } from '../memory/thread-messages.js';
import {
  PORTED,
  RESULT_FALSE,
  RESULT_NULL,
  RESULT_NUMBER,
  RESULT_PORTED,
  RESULT_TRUE,
  RESULT_UNDEFINED,
  type ThreadWords,
} from '../memory/thread-words.js';
import { TaskUnknownError } from '../pool-errors.js';
import type { ThreadTask } from './thread-task.js';

/** Reports of a thread to its pool: ends of tasks in shared memory, everything else by the port. */
export class TaskReports {
  private readonly words: ThreadWords;
  private readonly port: MessagePort;
  private readonly poolAwake: Int32Array;
  private readonly ring: () => void;
  private published = 0;
  private ported = 0;

  /** `ring` wakes a pool that sleeps. */
  constructor(words: ThreadWords, port: MessagePort, poolAwake: SharedArrayBuffer, ring: () => void) {
    this.words = words;
    this.port = port;
    this.poolAwake = new Int32Array(poolAwake);
    this.ring = ring;
  }

  returned(task: ThreadTask, value: unknown): void {
    const kind = inlineKind(value);
    if (kind === RESULT_PORTED) {
      try {
        this.post({ kind: 'returned', slot: task.slot, value }, transferListOf(value));
      } catch (error) {
        return this.threw(task, findNotCloneable(value, 'the result', error), 'not-cloneable');
      }
    }
    this.end(task, kind, kind === RESULT_NUMBER ? (value as number) : 0);
  }

  threw(task: ThreadTask, error: unknown, known: KnownError): void {
    const own = known === 'code' && error instanceof NotCloneableError ? 'not-cloneable' : known;
    const kept = own !== 'code' || !(error instanceof TaskUnknownError) ? own : 'unknown-task';
    this.post({ kind: 'threw', slot: task.slot, error: errorRecord(error), known: kept });
    this.end(task, RESULT_PORTED, 0);
  }

  private end({ slot }: ThreadTask, kind: number, number: number): void {
    this.words.publish(this.published, slot, kind, number);
    this.published = (this.published + 1) | 0;
    this.wakePool();
  }

  /** A message that is not the end of a task: the pool reads it at once. */
  report(message: FromThread, transfer?: Parameters<MessagePort['postMessage']>[1]): void {
    this.post(message, transfer);
    this.wakePool();
  }

  private post(message: FromThread, transfer?: Parameters<MessagePort['postMessage']>[1]): void {
    this.port.postMessage(message, transfer);
    this.ported = (this.ported + 1) | 0;
    Atomics.store(this.words.words, PORTED, this.ported);
  }

  /** One message wakes the pool, however many reports it finds then. */
  private wakePool(): void {
    if (Atomics.load(this.poolAwake, 0) === 0 && Atomics.exchange(this.poolAwake, 0, 1) === 0) this.ring();
  }
}

function inlineKind(value: unknown): number {
  if (value === undefined) return RESULT_UNDEFINED;
  if (typeof value === 'number') return RESULT_NUMBER;
  if (value === null) return RESULT_NULL;
  if (typeof value === 'boolean') return value ? RESULT_TRUE : RESULT_FALSE;
  return RESULT_PORTED;
}
