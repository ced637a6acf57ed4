import type { ActorCell } from '../actor/actor-cell.js';
import { SendTimeoutError } from '../errors/error-classes.js';
import { describeActivity } from '../inspect/describe-activity.js';
import type { CancelGroup, Cancellable } from '../message/cancellation.js';
import type { Envelope } from '../message/envelope.js';
import type { CellRef } from '../ref/cell-ref.js';
import { TimerNode } from '../timers/timer-wheel.js';
import type { OpenWait } from './open-waits.js';

/** One send that waits for room. The wheel ends it at its deadline. */
export class WaitingSend extends TimerNode implements OpenWait, Cancellable {
  next: WaitingSend | undefined = undefined;
  earlierWait: OpenWait | undefined = undefined;
  hasLeft = false;
  /** Why it waits no longer. */
  failure: { readonly reason: unknown } | undefined = undefined;
  wake: () => void = () => undefined;
  readonly since: number;
  readonly cause: Envelope | undefined;
  private readonly ref: CellRef;
  private readonly message: string;
  private readonly groups: CancelGroup[] = [];

  constructor(ref: CellRef, message: string, since: number, cause: Envelope | undefined) {
    super();
    this.ref = ref;
    this.message = message;
    this.since = since;
    this.cause = cause;
  }

  get isOpen(): boolean {
    return !this.hasLeft && this.failure === undefined;
  }

  get isForRoom(): boolean {
    return true;
  }

  get awaited(): ActorCell {
    return this.ref.cell;
  }

  get cancellable(): Cancellable {
    return this;
  }

  /** A group that has this as a member. */
  joined(group: CancelGroup): void {
    this.groups.push(group);
  }

  fail(reason: unknown): void {
    this.failure ??= { reason };
    this.wake();
  }

  cancel(reason: unknown): readonly Cancellable[] {
    this.fail(reason);
    return [];
  }

  override expire(): void {
    const { cell } = this.ref;
    const now = cell.type.runtime.host.now();
    this.fail(new SendTimeoutError(cell.path, this.message, now - this.since, describeActivity(cell, now)));
  }

  leaveGroups(): void {
    for (const group of this.groups) group.remove(this);
  }
}
