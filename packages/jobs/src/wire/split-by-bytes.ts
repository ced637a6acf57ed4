// Hot path: runs once per batch of assignments or outcomes.

/** A batch is encoded in portions of about this many payload bytes, with a look at the room left before each. */
export const PORTION_BYTES = 1024 * 1024;

/** Cuts a batch behind the item with which it reaches the size of a portion. Nearly every batch is one. */
export function portions<Item>(items: readonly Item[], bytesOf: (item: Item) => number): (readonly Item[])[] {
  const cut: (readonly Item[])[] = [];
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < items.length; at += 1) {
    bytes += bytesOf(items[at] as Item); // at < length
    if (bytes < PORTION_BYTES || at + 1 === items.length) continue;
    cut.push(items.slice(from, at + 1));
    from = at + 1;
    bytes = 0;
  }
  cut.push(from === 0 ? items : items.slice(from));
  return cut;
}
