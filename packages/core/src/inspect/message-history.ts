import type { Runtime } from '../actor/runtime.js';

const SENDS_MAX = 20;

/**
 * What led to the present state of the actor in a slot, as lines for people: `sender → receiver.message`, oldest first. By
 * its slot: whoever keeps an event to read its history later keeps no actor alive.
 */
export function messageHistoryOf(runtime: Runtime, of: number): string[] {
  const nameOf = (slot: number): string => {
    if (slot === 0) return 'outside';
    return slot < 0 ? `$${-slot} (gone)` : (runtime.ready.slots.mailboxes[slot]?.path ?? `$${slot} (gone)`);
  };
  return (runtime.recorder?.messageHistoryOf(runtime.ready, of, SENDS_MAX) ?? []).map(
    ({ sender, receiver, handler }) => {
      const names = runtime.ready.slots.mailboxes[receiver]?.type.definition['~handlerNames'];
      return `${nameOf(sender)} → ${nameOf(receiver)}.${names?.[handler] ?? handler}`;
    },
  );
}
