/** The fate of an instant while the job of an earlier run is queued or running. */
export type ScheduleOverlap = 'skip' | 'queue' | 'replace';

/** When a schedule runs. Data of the log: the same in records, requests and answers. */
export interface ScheduleRule {
  /** Five or six fields, or a nickname such as `@daily`. Either this or `everyMs`. */
  readonly cron?: string | undefined;
  /** The IANA time zone of `cron`. Absent: UTC. */
  readonly zone?: string | undefined;
  readonly everyMs?: number | undefined;
  /** An instant of `everyMs`; the others are whole periods away from it. Absent: 1970. */
  readonly fromAt?: number | undefined;
  /** Each run is up to so much later, by its name and its instant. Absent: 0. */
  readonly jitterMs?: number | undefined;
  readonly overlap: ScheduleOverlap;
  /** The most instants that are run later because the leader was away at their time. */
  readonly catchUpMax: number;
}

const RULE_KEYS = [
  'cron',
  'zone',
  'everyMs',
  'fromAt',
  'jitterMs',
  'overlap',
  'catchUpMax',
] as const satisfies readonly (keyof ScheduleRule)[];

/** Equal rules give equal texts. */
export function ruleText(rule: ScheduleRule): string {
  return JSON.stringify(Object.fromEntries(RULE_KEYS.map((key) => [key, rule[key]])));
}
