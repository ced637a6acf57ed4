import { GOOD_CONDITION, type LogCondition } from '@troupe/jobs/journal';

/** As the journal of another engine reports it. */
export const full: LogCondition = { ...GOOD_CONDITION, disk: 'low', reason: '3 GiB of 4 GiB in use' };

export const reasonOf = ({ reason }: LogCondition): string | undefined => reason;
