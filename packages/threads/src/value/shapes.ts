/** More shapes than this are written with their names every time. */
const SHAPES_MAX = 4_096;
const NOT_NUMBERED = -1;

/** A list of field names, as a path from the root: the writer's way from an object to its shape. */
export class Shape {
  readonly names: readonly string[];
  number = NOT_NUMBERED;
  private readonly longer = new Map<string, Shape>();

  constructor(names: readonly string[]) {
    this.names = names;
  }

  with(name: string): Shape {
    let next = this.longer.get(name);
    if (next === undefined) {
      next = new Shape([...this.names, name]);
      this.longer.set(name, next);
    }
    return next;
  }
}

/** The shapes of the objects that one writer has written: a reader gets the names of each once. */
export class ShapeTable {
  /** By number: what the reader knows. */
  readonly known: Shape[] = [];
  private root = new Shape([]);
  private lookups = 0;
  /** Most objects of a stream have the same shape. */
  private last = this.root;

  of(object: object): Shape {
    const names = Object.keys(object);
    const known = this.last.names;
    let same = names.length === known.length ? 0 : -1;
    while (same >= 0 && same < names.length) same = names[same] === known[same] ? same + 1 : -1;
    if (same < 0) this.last = this.find(names);
    return this.last;
  }

  private find(names: readonly string[]): Shape {
    let shape = this.root;
    for (const name of names) shape = shape.with(name);
    return shape;
  }

  /** Gives the shape its number; false when there are too many. */
  learn(shape: Shape): boolean {
    if (this.known.length >= SHAPES_MAX) return this.forgetUnnumbered();
    shape.number = this.known.length;
    this.known.push(shape);
    return true;
  }

  /** Objects that are used as maps have ever new shapes: their paths must not be kept. */
  private forgetUnnumbered(): false {
    this.lookups += 1;
    if (this.lookups % SHAPES_MAX !== 0) return false;
    const { known } = this;
    this.root = new Shape([]);
    this.last = this.root;
    known.forEach((shape, number) => {
      const again = this.find(shape.names);
      again.number = number;
      known[number] = again;
    });
    return false;
  }

  /** The record with the latest shapes was not written. */
  forgetAfter(count: number): void {
    for (const shape of this.known.splice(count)) shape.number = NOT_NUMBERED;
  }
}
