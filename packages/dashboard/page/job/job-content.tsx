import type { JobState } from '../api.js';
import { Command, quoted } from '../parts/command.js';
import { base64Bytes, bytes } from '../parts/format.js';
import { JsonTree } from '../parts/json-tree.js';
import { useLook } from '../parts/use-look.js';
import { InputEdit } from './input-edit.js';

const OUTPUT_CHARS_MAX = 200_000;
/** A longer line is of no use in a terminal. */
const COMMAND_CHARS_MAX = 400;
/** The job has ended meanwhile, and its input is not kept. */
const GONE = 410;

interface InputAnswer {
  readonly bytes: number;
  readonly kind: 'json' | 'bytes';
  readonly isCut: boolean;
  /** Fields of the value are hidden. */
  readonly isRedacted?: boolean | undefined;
  readonly value?: unknown;
  readonly text?: string | undefined;
}

/** The input of a job, while its leader keeps it. */
export function Input({
  id,
  exec,
  state,
}: {
  readonly id: string;
  readonly exec: string;
  readonly state: JobState;
}) {
  if (state === 'done' || state === 'cancelled') return null;
  return <KeptInput id={id} exec={exec} isDead={state === 'dead'} />;
}

interface KeptProps {
  readonly id: string;
  readonly exec: string;
  readonly isDead: boolean;
}

function KeptInput({ id, exec, isDead }: KeptProps) {
  const { value: input, problem, status, again } = useLook<InputAnswer>(`/api/jobs/${id}/input`);
  if (problem !== '') return status === GONE ? null : <p class="error">{problem}</p>;
  if (input === undefined) return null;
  return (
    <>
      <h2>
        Input <Size of={input.bytes} href={`/api/jobs/${id}/input/file`} />
      </h2>
      <div class="card">
        {input.text === undefined ? <JsonTree value={input.value} /> : <pre>{input.text}</pre>}
        {input.isCut ? <p class="empty">The rest is in the file.</p> : null}
        {input.text === undefined ? <Again exec={exec} value={input.value} /> : null}
        {isDead && input.text === undefined ? (
          input.isRedacted === true ? (
            <p class="quiet">
              Fields are hidden here: troupe dlq redrive --payload queues it with another input.
            </p>
          ) : (
            <InputEdit id={id} value={input.value} onQueued={again} />
          )
        ) : null}
      </div>
    </>
  );
}

interface OutputAnswer {
  readonly output?: unknown;
  /** In place of the output: bytes. */
  readonly base64?: string | undefined;
}

/** The output of a job that is done. */
export function Output({ id }: { readonly id: string }) {
  const { value: answer, problem } = useLook<OutputAnswer>(`/api/jobs/${id}/result`);
  if (problem !== '') return <p class="error">{problem}</p>;
  if (answer === undefined) return null;
  const { output, base64 } = answer;
  const size = base64 === undefined ? (JSON.stringify(output) ?? '').length : base64Bytes(base64);
  return (
    <>
      <h2>
        Output <Size of={size} href={`/api/jobs/${id}/result/file`} />
      </h2>
      <div class="card">
        {base64 !== undefined ? (
          <p class="empty">It is bytes; they are in the file.</p>
        ) : size > OUTPUT_CHARS_MAX ? (
          <p class="empty">It is too large to be shown here; it is in the file.</p>
        ) : (
          <JsonTree value={output} />
        )}
      </div>
    </>
  );
}

/** The same job once more, from a terminal. */
function Again({ exec, value }: { readonly exec: string; readonly value: unknown }) {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > COMMAND_CHARS_MAX ? null : (
    <p>
      <Command text={`npx troupe submit ${quoted(exec)} ${quoted(text)}`} />
    </p>
  );
}

function Size({ of, href }: { readonly of: number; readonly href: string }) {
  return (
    <small>
      {bytes(of)}{' '}
      <a href={href} download>
        download
      </a>
    </small>
  );
}
