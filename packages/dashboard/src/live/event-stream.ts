import type { LookChange } from './live-looks.js';
import type { LiveChange } from './live-overview.js';

export type LiveEvent = LiveChange | LookChange;

/** Calls the listener with events until the returned function is called. */
export type FollowLive = (listener: (event: LiveEvent) => void) => () => void;

/** A page that is so many events behind has to connect again. */
const EVENTS_AHEAD_MAX = 120;

/** Events of one page as Server-Sent Events. */
export function liveResponse(follow: FollowLive, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  let unfollow: () => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      unfollow = follow((event) => {
        // A page that does not read loses events, never order: it begins anew.
        if ((controller.desiredSize ?? 0) < -EVENTS_AHEAD_MAX) {
          unfollow();
          return controller.error(new Error('too slow'));
        }
        controller.enqueue(encoder.encode(textOf(event)));
      });
      signal.addEventListener('abort', () => unfollow(), { once: true });
    },
    cancel: () => unfollow(),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } });
}

function textOf({ kind, ...rest }: LiveEvent): string {
  const data = kind === 'overview' && 'fields' in rest ? rest.fields : rest;
  return `event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`;
}
