import type { ContentFormat } from '@troupe/wal';
import { LedgerVersionError } from '../jobs-error.js';

/** The format of the entries of a journal (docs/ledger-format.md). */
export type LedgerFormat = ContentFormat;

/** The format that this version writes. It reads every minor up to its own. */
export const LEDGER_FORMAT: LedgerFormat = { name: 'troupe-ledger', major: 1, minor: 2, since: '0.1.0' };

/** Throws for a journal that this version cannot read. `found` undefined: it states no format. */
export function assertLedgerReadable(
  found: LedgerFormat | undefined,
  { name, major, minor }: LedgerFormat = LEDGER_FORMAT,
): void {
  if (found?.name !== name || found.major !== major || found.minor > minor)
    throw new LedgerVersionError(formatProblem(found));
}

/** Why a journal of another format cannot be read, and the version that can read it. */
export function formatProblem(found: LedgerFormat | undefined): string {
  const own = `this version reads up to ${LEDGER_FORMAT.major}.${LEDGER_FORMAT.minor}`;
  if (found === undefined) return `the folder states no format, ${own}; it is older than the first release`;
  if (found.name !== LEDGER_FORMAT.name)
    return `the folder holds ${found.name}, not ${LEDGER_FORMAT.name}; name the folder of a leader`;
  const format = `the folder has format ${found.major}.${found.minor}, ${own}`;
  return `${format}; start version ${found.since} or later, nothing was changed`;
}
