// Checks every field of a manifest. The CRC proves that the bytes are as they were written, not by which
// program; file names are made of these numbers, so a text in their place could name a file elsewhere.

type Check = (value: unknown) => boolean;

const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const isNumberedFromOne: Check = (value) => isCount(value) && value !== 0;
const isHex =
  (digits: number): Check =>
  (value) =>
    typeof value === 'string' && value.length === digits && /^[0-9a-f]+$/.test(value);

const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

/** A later minor version may have more fields. */
function object(fields: Readonly<Record<string, Check>>): Check {
  return (value) => problemOf(fields, value) === undefined;
}

/** The first field that is not as it must be. */
function problemOf(fields: Readonly<Record<string, Check>>, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'the value';
  const found = value as Record<string, unknown>;
  return Object.keys(fields).find((name) => fields[name]?.(found[name]) !== true);
}

const POSITION = { batch: isCount, lsn: isCount, crc: isCount };

const MANIFEST: Readonly<Record<string, Check>> = {
  storeId: isHex(32),
  epoch: isCount,
  start: object(POSITION),
  segments: list(
    object({
      seq: isNumberedFromOne,
      bytes: isNumberedFromOne,
      salt: isCount,
      sealed: optional(object({ ...POSITION, end: isCount })),
    }),
  ),
  snapshots: list(object({ lsn: isCount, bytes: isCount, sha256: isHex(64) })),
  losses: list(object({ from: isCount, to: isCount, at: Number.isFinite })),
  clean: optional(object({ batch: isCount, lsn: isCount })),
};

/** The name of a field that is missing or of another form; undefined if there is none. */
export function manifestProblem(value: unknown): string | undefined {
  return problemOf(MANIFEST, value);
}
