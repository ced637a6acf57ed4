interface Link {
  readonly value: number;
  next: Link | undefined;
}

/** A sorted singly linked list. All operations except `size` take linear time. */
export class SortedList {
  private readonly head: Link = { value: Number.NEGATIVE_INFINITY, next: undefined };
  private length = 0;

  get size(): number {
    return this.length;
  }

  /** The last link with a smaller value. */
  private before(value: number): Link {
    let link = this.head;
    while (link.next !== undefined && link.next.value < value) link = link.next;
    return link;
  }

  add(value: number): void {
    const before = this.before(value);
    before.next = { value, next: before.next };
    this.length += 1;
  }

  has(value: number): boolean {
    return this.before(value).next?.value === value;
  }

  get isSorted(): boolean {
    let counted = 0;
    let link = this.head.next;
    let last = Number.NEGATIVE_INFINITY;
    while (link !== undefined) {
      if (link.value < last) return false;
      last = link.value;
      counted += 1;
      link = link.next;
    }
    return counted === this.length;
  }
}
