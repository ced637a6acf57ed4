// Hot path: runs once per batch of assignments or outcomes.

/**
 * A batch is encoded in slices of about this many payload bytes, with a check of the room left before each.
 */
const SLICE_BYTES = 1024 * 1024;

/**
 * Cuts a batch behind the item with which it reaches the size of a slice. Nearly every batch is one slice.
 */
export function sliceByBytes<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
): (readonly Item[])[] {
  const slices: (readonly Item[])[] = [];
  let from = 0;
  let bytes = 0;
  for (let at = 0; at < items.length; at += 1) {
    bytes += bytesOf(items[at] as Item); // at < length
    if (bytes < SLICE_BYTES || at + 1 === items.length) continue;
    slices.push(items.slice(from, at + 1));
    from = at + 1;
    bytes = 0;
  }
  slices.push(from === 0 ? items : items.slice(from));
  return slices;
}
