import { EMPTY_PAYLOAD } from '../../job/payload/payload.js';
import type { SubmitItem } from '../../protocol/client/client-messages.js';

/** A submit that is still being filled. */
export type ItemDraft = { -readonly [Field in keyof SubmitItem]: SubmitItem[Field] };

/** A submit of one call. Its number is 0 until it enters the window. */
export interface SubmitDraft extends ItemDraft {
  readonly call: number;
  /** It has its receipt, or its caller waits no longer. */
  isAnswered: boolean;
  /** The items of a `submitAll`, which have the same number. */
  readonly batch: readonly ItemDraft[] | undefined;
}

export function emptyDraft(
  call: number,
  options: { readonly wantsOutcome: boolean },
  batch?: readonly ItemDraft[],
): SubmitDraft {
  const { wantsOutcome } = options;
  const ref = batch?.[0]?.ref ?? 0;
  return {
    seq: 0,
    ref,
    payload: EMPTY_PAYLOAD,
    key: '',
    delayMs: 0,
    wantsOutcome,
    trace: undefined,
    orderKey: undefined,
    tags: undefined,
    runAt: undefined,
    holdsKey: undefined,
    call,
    isAnswered: false,
    batch,
  };
}

export function emptyItem(): ItemDraft {
  return {
    seq: 0,
    ref: 0,
    payload: EMPTY_PAYLOAD,
    key: '',
    delayMs: 0,
    wantsOutcome: false,
    trace: undefined,
    orderKey: undefined,
    tags: undefined,
    runAt: undefined,
    holdsKey: undefined,
  };
}
