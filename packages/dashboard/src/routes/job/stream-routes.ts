import type { JobDefinition, JobItem, StreamPosition } from '@troupe/jobs';
import { badInput } from '../../problem/http-problem.js';
import type { Route, RouteCall } from '../route.js';
import { ANY_VALUE, JOB_ID } from '../schemas.js';
import { handleOf } from './job-routes.js';
import { shownContent } from './shown-content.js';

type Item = JobItem<JobDefinition>;
/** An item as JSON has it, without hidden fields. */
interface ShownItem {
  readonly kind: Item['kind'];
}
/** How an item is written. `next`: the position behind it, where a reader goes on. */
type ItemText = (item: ShownItem, next: string | undefined) => string;

const SSE = 'text/event-stream';
const NDJSON = 'application/x-ndjson';
const POSITION = /^(\d{1,9}):(\d{1,15})$/;
/** Proxies close connections that are silent for longer. */
const KEEP_ALIVE_MS = 15_000;

const asEvent: ItemText = ({ kind, ...rest }, next) =>
  `event: ${kind}\n${next === undefined ? '' : `id: ${next}\n`}data: ${JSON.stringify(rest)}\n\n`;
const asLine: ItemText = (item, next) => `${JSON.stringify(next === undefined ? item : { ...item, next })}\n`;

const stream: Route = {
  method: 'get',
  path: '/api/jobs/{id}/stream',
  role: 'read',
  summary: 'The items of a job’s stream as they come, from any position that is still held.',
  parameters: [
    JOB_ID,
    {
      name: 'from',
      in: 'query',
      description: 'The first chunk to read, `attempt:offset`; `Last-Event-ID` has the same form and wins.',
      schema: { type: 'string', pattern: POSITION.source },
    },
  ],
  answers: {
    '200': {
      description:
        'Server-Sent Events where `Accept` names them, otherwise one JSON object a line. A chunk of bytes is `base64` in place of `chunk`.',
      content: { [SSE]: { type: 'string' }, [NDJSON]: ANY_VALUE },
    },
  },
  async serve(call) {
    const isSse = call.request.headers.get('accept')?.includes(SSE) === true;
    const stop = new AbortController();
    const { signal } = call.request;
    signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
    const items = handleOf(call).items({ from: positionOf(call), signal: stop.signal });
    // A stream that is refused is refused before the head of the answer is written.
    const first = await items.next();
    const plain = isSse ? asEvent : asLine;
    const text = (item: Item): string => plain(shown(call, item), positionAfter(item));
    return new Response(streamBody(first, items, text, isSse ? ': still here\n\n' : '\n', stop), {
      headers: { 'content-type': isSse ? SSE : NDJSON, 'x-accel-buffering': 'no' },
    });
  },
};

export const STREAM_ROUTES: readonly Route[] = [stream];

function streamBody(
  first: IteratorResult<Item, void>,
  items: AsyncGenerator<Item, void, void>,
  text: (item: Item) => string,
  keepAlive: string,
  stop: AbortController,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let pending: IteratorResult<Item, void> | undefined = first;
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => clearInterval(timer);
  return new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(encoder.encode(keepAlive)), KEEP_ALIVE_MS);
    },
    async pull(controller) {
      try {
        const { done, value } = pending ?? (await items.next());
        pending = undefined;
        if (done !== true) return controller.enqueue(encoder.encode(text(value)));
        end();
        controller.close();
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    cancel(reason) {
      end();
      stop.abort(reason);
    },
  });
}

function shown({ redaction }: RouteCall, item: Item): ShownItem {
  if (item.kind === 'data') {
    const { chunk, ...rest } = item;
    return { ...rest, ...shownContent(redaction, 'chunk', chunk) };
  }
  if (item.kind === 'finalCollected')
    return { kind: item.kind, ...shownContent(redaction, 'value', item.value) };
  return item.kind === 'end' ? { ...item, ...shownContent(redaction, 'metadata', item.metadata) } : item;
}

function positionOf({ request, parameters }: RouteCall): StreamPosition | undefined {
  const given = request.headers.get('last-event-id') ?? parameters.text('from');
  if (given === undefined) return undefined;
  const [, attempt, offset] = POSITION.exec(given) ?? [];
  if (attempt === undefined) throw badInput(`from: needed attempt:offset, got ${JSON.stringify(given)}`);
  return { attempt: Number(attempt), offset: Number(offset) };
}

function positionAfter(item: Item): string | undefined {
  if (item.kind === 'data') return `${item.attempt}:${item.offset + 1}`;
  if (item.kind === 'reset') return `${item.attempt}:0`;
  if (item.kind === 'gap') return `${item.attempt}:${item.to ?? item.from}`;
  return undefined;
}
