import { useEffect, useRef, useState } from 'preact/hooks';
import { base64Bytes, bytes } from './format.js';
import { useVisible } from './use-visible.js';

const LINES_MAX = 500;
/** A stream that has no item yet is not answered; one that is refused is answered at once. */
const REFUSED_WITHIN_MS = 500;
const RETRY_MS = 1_000;

/** The stream of a job as it comes. */
export interface JobStream {
  /** False: the job does not stream, or that is not known yet. */
  readonly isStreaming: boolean;
  readonly lines: readonly string[];
}

type Item =
  | { readonly kind: 'data'; readonly chunk?: unknown; readonly base64?: string; readonly next: string }
  | { readonly kind: 'reset' | 'gap' | 'end'; readonly next?: string };

/**
 * Reads on where it stopped: after a lost connection, in the foreground again, and when the job is driven again.
 * `isOpen` undefined: the job is not known yet.
 */
export function useStream(id: string, isOpen: boolean | undefined): JobStream {
  const [lines, setLines] = useState<readonly string[]>([]);
  const [isStreaming, setStreaming] = useState(false);
  const position = useRef('');
  const isVisible = useVisible();
  // A change of `isOpen` asks for another read.
  useEffect(() => {
    if (!isVisible || isOpen === undefined) return undefined;
    const stop = new AbortController();
    const pending = setTimeout(() => setStreaming(true), REFUSED_WITHIN_MS);
    const show = (item: Item): void => {
      if (stop.signal.aborted) return;
      if (item.next !== undefined) position.current = item.next;
      const line = textOf(item);
      if (line !== '') setLines((before) => [...before.slice(1 - LINES_MAX), line]);
    };
    void readOn(id, position, show, stop.signal).then(() => {
      clearTimeout(pending);
      if (!stop.signal.aborted) setStreaming(false);
    });
    return () => {
      clearTimeout(pending);
      stop.abort();
    };
  }, [id, isOpen, isVisible]);
  return { isStreaming, lines };
}

/** Resolves at the end of the stream, when it is refused, or at the signal. */
async function readOn(
  id: string,
  position: { readonly current: string },
  show: (item: Item) => void,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const from = position.current === '' ? '' : `?from=${position.current}`;
      const answer = await fetch(`/api/jobs/${id}/stream${from}`, { signal });
      if (answer.status >= 400 && answer.status < 500) return;
      if (answer.ok && (await readItems(answer, show)) === 'end') return;
    } catch {
      // The connection is lost, or the signal ended it: the loop decides.
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** One JSON object a line; an empty line keeps the connection alive. */
async function readItems({ body }: Response, show: (item: Item) => void): Promise<'end' | 'lost'> {
  if (body === null) return 'lost';
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return 'lost';
    const texts = (rest + value).split('\n');
    rest = texts.pop() ?? '';
    for (const text of texts) {
      if (text === '') continue;
      const item = JSON.parse(text) as Item;
      show(item);
      if (item.kind === 'end') return 'end';
    }
  }
}

function textOf(item: Item): string {
  if (item.kind === 'data' && item.base64 !== undefined) return `— ${bytes(base64Bytes(item.base64))} —\n`;
  if (item.kind === 'data')
    return typeof item.chunk === 'string' ? item.chunk : `${JSON.stringify(item.chunk)}\n`;
  if (item.kind === 'reset') return '\n— another attempt —\n';
  return item.kind === 'gap' ? '\n— chunks that are no longer held —\n' : '';
}
