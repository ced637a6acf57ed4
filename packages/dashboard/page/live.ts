import { useEffect, useState } from 'preact/hooks';
import type { Overview } from './api.js';

const SAMPLES_MAX = 120;

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

/** The leader as of now, by one connection that carries changes only. The browser connects again by itself. */
export function useLive(isSignedIn: boolean): Live {
  const [live, setLive] = useState<Live>({ overview: undefined, samples: [], isConnected: false });
  useEffect(() => {
    if (!isSignedIn) return undefined;
    let overview: Overview | undefined;
    let samples: Sample[] = [];
    const source = new EventSource('/api/live');
    source.addEventListener('overview', ({ data }: MessageEvent<string>) => {
      const changes = JSON.parse(data) as Partial<Overview>;
      overview = { ...overview, ...changes } as Overview; // the first event has every field
      samples = [...samples.slice(1 - SAMPLES_MAX), { at: Date.now(), overview }];
      setLive({ overview, samples, isConnected: true });
    });
    source.addEventListener('away', () => setLive({ overview, samples, isConnected: false }));
    source.onerror = () => setLive({ overview, samples, isConnected: false });
    return () => source.close();
  }, [isSignedIn]);
  return live;
}
