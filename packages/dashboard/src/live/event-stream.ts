import type { LiveOverview } from './live-overview.js';

/** The overview and its changes as Server-Sent Events. */
export function liveResponse(live: LiveOverview, signal: AbortSignal): Response {
  const encoder = new TextEncoder();
  let unfollow: () => void = () => undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      unfollow = live.follow((change) => {
        // A page that does not read loses looks, never order: each event has whole fields.
        if ((controller.desiredSize ?? 0) < -EVENTS_AHEAD_MAX) {
          unfollow();
          return controller.error(new Error('too slow'));
        }
        const data = change.kind === 'overview' ? JSON.stringify(change.fields) : '{}';
        controller.enqueue(encoder.encode(`event: ${change.kind}\ndata: ${data}\n\n`));
      });
      signal.addEventListener('abort', () => unfollow(), { once: true });
    },
    cancel: () => unfollow(),
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' } });
}

/** A page that is so many looks behind has to connect again. */
const EVENTS_AHEAD_MAX = 60;
