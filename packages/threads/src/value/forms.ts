import type { LayoutCodec } from './layout/layout-codec.js';
import { LayoutTable } from './layout/layout-table.js';
import { ShapeTable } from './shapes.js';

/** Shapes and layouts that the writer of a stream has numbered. */
export class WriterForms {
  readonly shapes = new ShapeTable();
  readonly layouts = new LayoutTable();

  /** For a reader of this thread: everything that the other one knows. */
  get asRead(): ReaderForms {
    const forms = new ReaderForms();
    forms.shapes.push(...this.shapes.known.map(({ names }) => names));
    forms.layouts.push(...this.layouts.known);
    return forms;
  }
}

/** Shapes and layouts that the reader of a stream has learnt, by their numbers. */
export class ReaderForms {
  readonly shapes: (readonly string[])[] = [];
  readonly layouts: LayoutCodec[] = [];
}
