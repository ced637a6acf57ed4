import { useEffect, useRef, useState } from 'preact/hooks';
import type { Overview } from './api.js';
import { liveConnection } from './live-connection.js';
import { useVisible } from './parts/use-visible.js';

const SAMPLES_MAX = 120;
/** The first look of a new connection is a point of its own only behind a gap. */
const GAP_MS = 2_000;

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

/** The leader as of now; a page in the background has no connection. */
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
    return liveConnection.followOverview({
      onLook: (overview, isFirst) => show(withSample(latest.current, overview, isFirst)),
      onAway: () => show({ ...latest.current, isConnected: false }),
    });
  }, [isSignedIn, isVisible]);
  return live;
}

function withSample({ samples }: Live, overview: Overview, isFirst: boolean): Live {
  const at = Date.now();
  const last = samples.at(-1);
  const isNear = isFirst && last !== undefined && at - last.at < GAP_MS;
  return {
    overview,
    samples: isNear ? samples : [...samples.slice(1 - SAMPLES_MAX), { at, overview }],
    isConnected: true,
  };
}
