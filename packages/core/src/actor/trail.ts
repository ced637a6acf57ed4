import type { ActorCell } from './cell.js';
import type { Runtime } from './runtime.js';

const TRAIL_MAX = 20;

/** What led to an actor's present state, as lines for people: `sender → receiver.message`, oldest first. */
export function trailOf(runtime: Runtime, cell: ActorCell): string[] {
  const nameOf = (slot: number): string => {
    if (slot === 0) return 'outside';
    return slot < 0 ? `$${-slot} (gone)` : (runtime.ready.slots.mailboxes[slot]?.path ?? `$${slot} (gone)`);
  };
  return (runtime.recorder?.trailOf(runtime.ready, cell.slot, TRAIL_MAX) ?? []).map(
    ({ sender, receiver, handler }) => {
      const names = runtime.ready.slots.mailboxes[receiver]?.kind.definition['~handlerNames'];
      return `${nameOf(sender)} → ${nameOf(receiver)}.${names?.[handler] ?? handler}`;
    },
  );
}
