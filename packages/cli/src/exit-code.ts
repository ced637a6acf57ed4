/** Exit codes of the command. The numbers are those of sysexits.h and do not change. */
export const ExitCode = {
  ok: 0,
  /** The job that was waited for ended without a result. */
  jobFailed: 1,
  usage: 64,
  data: 65,
  noInput: 66,
  unavailable: 69,
  internal: 70,
  cannotCreate: 73,
  io: 74,
  retryLater: 75,
  notAllowed: 77,
  config: 78,
} as const;

export type ExitNumber = number;

/** A row of docs/cli.md. */
export interface ExitMeaning {
  readonly code: string;
  readonly meaning: string;
  readonly example: string;
}

const MEANINGS: Readonly<Record<keyof typeof ExitCode, readonly [meaning: string, example: string]>> = {
  ok: ['done', ''],
  jobFailed: ['the job that was waited for ended without a result', '`run`, `await`: dead letter, cancelled'],
  usage: ['usage error', 'unknown command or option, bad address, bad cron line'],
  data: [
    'bad data',
    'payload not JSON or not UTF-8, key reused with another payload, log damaged or of a newer version, a module without handlers',
  ],
  noInput: [
    'not found',
    'no such job, schedule, worker, file, folder or module; fewer dead letters than named',
  ],
  unavailable: [
    'unavailable',
    'no leader at the address; the port is taken; the leader is older and does not know the call',
  ],
  internal: ['a bug in Troupe', 'please report it'],
  cannotCreate: [
    'cannot create',
    'folder in use by another leader or not writable, target not empty, key file exists or has no folder',
  ],
  io: ['I/O error', 'a leader whose fsync failed ends with this at once; results that could not be written'],
  retryLater: ['try again later', 'queue full, draining, disk low; `check` found something; a wait ran out'],
  notAllowed: ['not allowed', 'wrong key, rule forbids it'],
  config: [
    'the configuration is unsafe or wrong',
    'public address without TLS and keys, key file readable by others, certificate of another key, bad rule',
  ],
};

/** All exit codes, for docs/cli.md. */
export function exitMeanings(): readonly ExitMeaning[] {
  const own = Object.entries(MEANINGS).map(([name, [meaning, example]]) => ({
    code: String(ExitCode[name as keyof typeof ExitCode]),
    meaning,
    example,
  }));
  return [
    ...own,
    {
      code: '130, 143',
      meaning: 'ended by SIGINT, SIGTERM',
      example: 'a leader or worker only by the second signal',
    },
  ];
}
