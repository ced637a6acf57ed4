import type { ComponentChildren } from 'preact';

interface Props {
  readonly label: string;
  readonly head: readonly string[];
  readonly children: ComponentChildren;
}

/** A table that scrolls by itself where it is wider than the screen. */
export function Table({ label, head, children }: Props) {
  return (
    <section class="scroll" tabIndex={0} aria-label={label}>
      <table>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}
