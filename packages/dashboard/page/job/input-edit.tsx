import { useState } from 'preact/hooks';
import { call } from '../api.js';

interface Props {
  readonly id: string;
  readonly value: unknown;
  readonly onQueued: () => void;
}

/** A dead letter is queued again with another input. */
export function InputEdit({ id, value, onQueued }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState('');
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Edit and queue again …
      </button>
    );
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('input'));
    try {
      await call('POST', `/api/dead-letters/${id}/redrive`, { input: JSON.parse(text) as unknown });
      setOpen(false);
      setProblem('');
      onQueued();
    } catch (error) {
      setProblem(
        error instanceof SyntaxError ? `It is not JSON: ${error.message}` : (error as Error).message,
      );
    }
  };
  const text = JSON.stringify(value, null, 2);
  return (
    <form class="edit" onSubmit={(event) => void submit(event)}>
      <label>
        New input, as JSON
        <textarea
          name="input"
          spellcheck={false}
          rows={Math.min(20, text.split('\n').length + 1)}
          defaultValue={text}
        />
      </label>
      {problem === '' ? null : (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
      <div class="row">
        <button type="submit" class="main">
          Queue again with this input
        </button>
        <button type="button" onClick={() => setOpen(false)}>
          Keep it as it is
        </button>
      </div>
    </form>
  );
}
