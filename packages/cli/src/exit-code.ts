/** Exit codes of the command (docs/cli.md). The numbers are those of sysexits.h and do not change. */
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
