import { useState } from 'preact/hooks';

/** Entries of an object or array that are shown at first; the rest by a click. */
const ENTRIES_SHOWN = 100;
const OPEN_LEVELS = 2;

/** A value as a tree that can be opened and closed. Texts are texts, whatever they hold. */
export function JsonTree({ value }: { readonly value: unknown }) {
  return (
    <div class="tree">
      <Node value={value} level={0} />
    </div>
  );
}

interface NodeProps {
  readonly value: unknown;
  readonly level: number;
  readonly name?: string | undefined;
}

function Node({ value, level, name }: NodeProps) {
  const [shown, setShown] = useState(ENTRIES_SHOWN);
  const label = name === undefined ? null : <span class="name">{name}: </span>;
  if (typeof value !== 'object' || value === null)
    return (
      <div>
        {label}
        <span class={`leaf ${value === null ? 'null' : typeof value}`}>{JSON.stringify(value)}</span>
      </div>
    );
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  return (
    <details open={level < OPEN_LEVELS}>
      <summary>
        {label}
        <span class="size">{size}</span>
      </summary>
      {entries.slice(0, shown).map(([key, one]) => (
        <Node key={key} name={key} value={one} level={level + 1} />
      ))}
      {entries.length <= shown ? null : (
        <button type="button" onClick={() => setShown(shown + 10 * ENTRIES_SHOWN)}>
          {entries.length - shown} more
        </button>
      )}
    </details>
  );
}
