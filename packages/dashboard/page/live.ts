import { useEffect, useRef, useState } from 'preact/hooks';
import { call, type Overview } from './api.js';
import { useVisible } from './parts/use-visible.js';

const SAMPLES_MAX = 120;
const RETRY_MS = 1_000;

/** One look a second, as the gateway sends it. */
export interface Sample {
  readonly at: number;
  readonly overview: Overview;
}

export interface Live {
  /** Undefined before the first answer. */
  readonly overview: Overview | undefined;
  /** The last two minutes, oldest first. */
  readonly samples: readonly Sample[];
  readonly isConnected: boolean;
}

const NOTHING: Live = { overview: undefined, samples: [], isConnected: false };

/** The leader as of now, by one connection that carries changes only; a page in the background has none. */
export function useLive(isSignedIn: boolean): Live {
  const [live, setLive] = useState(NOTHING);
  const isVisible = useVisible();
  const latest = useRef(NOTHING);
  useEffect(() => {
    if (!isSignedIn || !isVisible) return undefined;
    const show = (next: Live): void => {
      latest.current = next;
      setLive(next);
    };
    const away = (): void => show({ ...latest.current, isConnected: false });
    return followOverview((overview) => show(withSample(latest.current, overview)), away);
  }, [isSignedIn, isVisible]);
  return live;
}

function withSample({ samples }: Live, overview: Overview): Live {
  return {
    overview,
    samples: [...samples.slice(1 - SAMPLES_MAX), { at: Date.now(), overview }],
    isConnected: true,
  };
}

/**
 * Connects again for ever. The browser does that too, but gives up for good where the answer is an error, as that of a
 * proxy whose gateway is away.
 */
function followOverview(onLook: (overview: Overview) => void, onAway: () => void): () => void {
  let source: EventSource;
  let timer: number | undefined;
  const open = (): void => {
    let overview: Overview | undefined;
    source = new EventSource('/api/live');
    source.onopen = () => {
      overview = undefined;
    };
    source.addEventListener('overview', ({ data }: MessageEvent<string>) => {
      overview = { ...overview, ...(JSON.parse(data) as Partial<Overview>) } as Overview; // the first event has every field
      onLook(overview);
    });
    source.addEventListener('away', onAway);
    source.onerror = () => {
      onAway();
      if (source.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, RETRY_MS);
      // The session may be over: that answer asks for a token.
      call('GET', '/api/session').catch(() => undefined);
    };
  };
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}
