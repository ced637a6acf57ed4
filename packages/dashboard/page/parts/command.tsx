import { useState } from 'preact/hooks';

/** A line for a terminal, and a button that copies it. */
export function Command({ text }: { readonly text: string }) {
  const [state, setState] = useState('');
  const copy = (): void => {
    // A browser offers its clipboard to loopback and HTTPS alone.
    const copied = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
    copied.then(
      () => setState('copied'),
      () => setState('mark the text to copy it'),
    );
  };
  return (
    <span class="command">
      <code>{text}</code>
      <button type="button" onClick={copy} aria-label={`copy ${text}`}>
        Copy
      </button>
      <small role="status">{state}</small>
    </span>
  );
}

/** For a shell: in quotes where it is more than a word. */
export function quoted(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
