import { BackPressure } from '#src/mailbox/back-pressure.js';
import { OpenWaits } from '#src/waits/open-waits.js';
import { WaitCycles } from '#src/waits/wait-cycles.js';
import { WaitGraph } from '#src/waits/wait-graph.js';
import { WaitingSends } from '#src/waits/waiting-sends.js';

type Method = (this: never, ...args: never[]) => unknown;

/** A bug that is planted from outside, so that the product has no switch for it. */
export interface PlantedBug {
  readonly name: string;
  readonly owner: { readonly prototype: object };
  readonly method: string;
  readonly broken: Method;
}

/** Plants the bug; returns the function that removes it. */
export function plant({ owner, method, broken }: PlantedBug): () => void {
  const methods = owner.prototype as Record<string, Method>;
  const original = methods[method];
  if (original === undefined) throw new Error(`nothing to break: no method ${method}`);
  methods[method] = broken;
  return () => {
    methods[method] = original;
  };
}

export const plantedBugs: readonly PlantedBug[] = [
  {
    name: 'a mute begins though the receiver waits for the sender',
    owner: WaitGraph,
    method: 'leadsTo',
    broken: () => false,
  },
  {
    name: 'an ask or a send that closes a cycle leaves the mutes in it',
    owner: WaitGraph,
    method: 'releaseBetween',
    broken: () => undefined,
  },
  {
    name: 'open asks and sends are not found',
    owner: OpenWaits,
    method: 'add',
    broken: () => undefined,
  },
  {
    name: 'a cycle of asks and sends is not watched',
    owner: WaitCycles,
    method: 'watch',
    broken: () => undefined,
  },
  {
    name: 'no sender is muted',
    owner: BackPressure,
    method: 'muteSender',
    broken: () => undefined,
  },
  {
    name: 'a receiver that has caught up releases no sender',
    owner: BackPressure,
    method: 'releaseIfCaughtUp',
    broken: () => undefined,
  },
  {
    name: 'sends that wait are not woken',
    owner: WaitingSends,
    method: 'awaitRoom',
    broken: () => undefined,
  },
];
