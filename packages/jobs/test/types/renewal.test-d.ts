import type { AttemptFailure, EmbeddedJobs, LeaderServer } from '@troupe/jobs';
import { IdentityStore } from '@troupe/transport';

declare const leader: LeaderServer;
declare const app: EmbeddedJobs;

export const renewed: Promise<void> = leader.renew({
  identities: new IdentityStore([]),
  tls: { key: 'k', cert: 'c' },
});
// @ts-expect-error keys come as a identities
void leader.renew({ keys: [] });

export const failures: AttemptFailure[] = [];
app.worker({ handlers: [], onFailure: (failure) => failures.push(failure) });
// @ts-expect-error an attempt that was given back has not failed
export const outcome: AttemptFailure['outcome'] = 'released';
