import { useEffect, useState } from 'preact/hooks';
import { ApiError, call, type JobState } from '../api.js';
import { bytes } from '../parts/format.js';
import { JsonTree } from '../parts/json-tree.js';

const OUTPUT_CHARS_MAX = 200_000;

interface InputAnswer {
  readonly bytes: number;
  readonly kind: 'json' | 'bytes';
  readonly isCut: boolean;
  readonly value?: unknown;
  readonly text?: string | undefined;
}

/** The input of a job, while its leader keeps it. */
export function Input({ id, state }: { readonly id: string; readonly state: JobState }) {
  const [input, setInput] = useState<InputAnswer | undefined>(undefined);
  const [problem, setProblem] = useState('');
  const isKept = state !== 'done' && state !== 'cancelled';
  useEffect(() => {
    if (!isKept) return;
    call<InputAnswer>('GET', `/api/jobs/${id}/input`).then(setInput, (error: Error) =>
      setProblem(error instanceof ApiError && error.status === 410 ? '' : error.message),
    );
  }, [id, isKept]);
  if (problem !== '') return <p class="error">{problem}</p>;
  if (input === undefined) return null;
  return (
    <>
      <h2>
        Input <Size of={input.bytes} href={`/api/jobs/${id}/input/file`} />
      </h2>
      <div class="card">
        {input.text === undefined ? <JsonTree value={input.value} /> : <pre>{input.text}</pre>}
        {input.isCut ? <p class="empty">The rest is in the file.</p> : null}
      </div>
    </>
  );
}

/** The output of a job that is done. */
export function Output({ id }: { readonly id: string }) {
  const [output, setOutput] = useState<{ readonly value: unknown; readonly chars: number } | undefined>(
    undefined,
  );
  const [problem, setProblem] = useState('');
  useEffect(() => {
    call<{ output: unknown }>('GET', `/api/jobs/${id}/result`).then(
      ({ output: value }) => setOutput({ value, chars: (JSON.stringify(value) ?? '').length }),
      (error: Error) => setProblem(error.message),
    );
  }, [id]);
  if (problem !== '') return <p class="error">{problem}</p>;
  if (output === undefined) return null;
  return (
    <>
      <h2>
        Output <Size of={output.chars} href={`/api/jobs/${id}/result`} />
      </h2>
      <div class="card">
        {output.chars > OUTPUT_CHARS_MAX ? (
          <p class="empty">It is too large to be shown here; it is in the file.</p>
        ) : (
          <JsonTree value={output.value} />
        )}
      </div>
    </>
  );
}

function Size({ of, href }: { readonly of: number; readonly href: string }) {
  return (
    <small>
      {bytes(of)}{' '}
      <a href={href} download>
        file
      </a>
    </small>
  );
}
