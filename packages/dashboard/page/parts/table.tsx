import { type ComponentChildren, cloneElement, isValidElement, toChildArray, type VNode } from 'preact';

interface Props {
  readonly label: string;
  readonly head: readonly string[];
  /** Columns of numbers, which stand at the right. */
  readonly numbers?: readonly string[];
  /** Rows: `tr` with a `td` for each column. */
  readonly children: ComponentChildren;
}

/** Where the display of a table is changed, browsers take its own roles from it. */
const ROLES = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  head: { role: 'columnheader' },
  cell: { role: 'cell' },
} as const;

/**
 * A table that scrolls by itself where it is wider than the screen. On a telephone each row is a block, and each cell has
 * the name of its column; cells without a value (`–`) are left out there, and the roles keep it a table for screen readers.
 */
export function Table({ label, head, numbers = [], children }: Props) {
  const kind = (name: string): string => (numbers.includes(name) ? 'number' : '');
  const row = (tr: VNode): VNode =>
    cloneElement(
      tr,
      { role: 'row' },
      elementsOf(tr.props.children).map((td, at) => cell(td, head[at] ?? '')),
    );
  const cell = (td: VNode<{ class?: string; children?: ComponentChildren }>, name: string): VNode =>
    cloneElement(td, {
      role: 'cell',
      'data-name': name,
      class: [td.props.class, kind(name), td.props.children === '–' ? 'none' : ''].filter(Boolean).join(' '),
    });
  return (
    <section class="scroll" tabIndex={0} aria-label={label}>
      <table {...ROLES.table}>
        <thead {...ROLES.group}>
          <tr {...ROLES.row}>
            {head.map((name) => (
              <th key={name} scope="col" {...ROLES.head} class={kind(name)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...ROLES.group}>{elementsOf(children).map(row)}</tbody>
      </table>
    </section>
  );
}

function elementsOf(children: ComponentChildren): VNode[] {
  return toChildArray(children).filter((child): child is VNode => isValidElement(child));
}
