import { type Client, connectClient, LeaderChangedError, type LeaderOverview } from '@troupe/jobs';

const address = { port: 7419 };

export const connected: Promise<Client> = connectClient({ address, name: 'ann' });

// @ts-expect-error A client that only looks needs no option for it.
export const looking: Promise<Client> = connectClient({ address, submits: false });

export const isLow = ({ diskLow }: LeaderOverview): boolean => diskLow;

export function isElsewhere(error: unknown): error is LeaderChangedError & { code: 'ERR_LEADER_CHANGED' } {
  return error instanceof LeaderChangedError;
}
