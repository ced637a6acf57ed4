// Leaders of other versions on the same folder: an earlier one, which does not have the optional fields of this
// one, and later ones, which have optional or required records of their own. Each is the leader of this version
// behind a journal that changes its entries and chunks into those of the other.
import type { Journal, OpenJournal } from '@troupe/jobs';
import type { CodecName, Fold } from '@troupe/wal';
import type { SimulatedDisk } from '@troupe/wal/testing';
import { decodeRecords, encodeRecord } from '#src/ledger/codec/ledger-record-codec.js';
import type { Ledger } from '#src/ledger/ledger.js';
import { ledgerFold } from '#src/ledger/ledger-fold.js';
import { LEDGER_FORMAT } from '#src/ledger/ledger-format.js';
import type { LedgerRecord } from '#src/ledger/ledger-record.js';
import {
  bytesOf,
  chunkWithLaterFields,
  LATER_OPTIONAL,
  LATER_REQUIRED,
  laterChunk,
  laterRecord,
  withLaterFields,
} from '../ledger/later-version.js';

/**
 * `later` adds only optional records and fields. `raising` and `forgetful` have a required kind of record too;
 * the first raises the format of the folder, the second has forgotten it.
 */
export type LeaderVersion = 'earlier' | 'own' | 'later' | 'raising' | 'forgetful';

const LATER_FORMAT = { ...LEDGER_FORMAT, minor: LEDGER_FORMAT.minor + 1, since: '99.0.0' };
const PLANS: readonly (readonly LeaderVersion[])[] = [
  ['own'],
  ['own'],
  ['earlier', 'own', 'later'],
  ['own', 'later'],
  ['own', 'later', 'raising'],
  ['own', 'forgetful'],
];
const LINES = [0, 0, 0, 0.5, 1];

/** The version and the form of every leader that starts on the folder of one run. */
export class OtherVersions {
  private readonly random: () => number;
  private readonly versions: readonly LeaderVersion[];
  /** The share of leaders with a log of lines. */
  private readonly lines: number;
  /** A record of the required kind may be in the log, or is for certain. */
  private mayHaveRequired = false;
  private hasRequired = false;

  constructor(random: () => number, { isMixed }: { readonly isMixed: boolean }) {
    this.random = random;
    this.versions = isMixed ? (someOf(PLANS, random) ?? ['own']) : ['own'];
    this.lines = someOf(LINES, random) ?? 0;
  }

  /** The optional part of the state may differ from that of the records. */
  get forgetsFields(): boolean {
    return this.versions.includes('earlier');
  }

  drawCodec(): CodecName {
    return this.random() < this.lines ? 'jsonl' : 'binary';
  }

  /** `isHealing`: a version that reads the folder. */
  draw({ isHealing, disk }: { readonly isHealing: boolean; readonly disk: SimulatedDisk }): LeaderVersion {
    const drawn = someOf(this.versions, this.random) ?? 'own';
    if (!isHealing || !(this.mayHaveRequired || isRaised(disk))) return drawn;
    return this.versions.find(knowsRequired) ?? drawn;
  }

  /** A leader of this version must refuse to start. */
  mustRefuse(version: LeaderVersion, disk: SimulatedDisk): boolean {
    // A folder without CURRENT was never finished: it has no records, and may be made anew.
    const isLog = disk.file('CURRENT') !== undefined;
    return !knowsRequired(version) && isLog && (this.hasRequired || isRaised(disk));
  }

  mayRefuse(version: LeaderVersion, disk: SimulatedDisk): boolean {
    return !knowsRequired(version) && (this.mayHaveRequired || isRaised(disk));
  }

  /** The journal as a leader of this version uses it. */
  open(version: LeaderVersion, open: OpenJournal): OpenJournal {
    if (version === 'own') return open;
    return (reader, done, owner) => {
      const asRead = {
        format: version === 'raising' ? LATER_FORMAT : reader.format,
        snapshot: (chunk: Uint8Array, lsn: number) => {
          if (!knowsRequired(version) || chunk[0] !== LATER_REQUIRED) reader.snapshot(chunk, lsn);
        },
        entry: (bytes: Uint8Array, lsn: number) =>
          reader.entry(knowsRequired(version) ? withoutRequired(bytes) : bytes, lsn),
      };
      const opened = (error: Error | null, journal?: Journal): void =>
        journal === undefined ? done(error) : done(null, this.writing(version, journal));
      open(asRead, opened, owner);
    };
  }

  private writing(version: LeaderVersion, journal: Journal): Journal {
    const codec = journal.codec ?? 'binary';
    const append: Journal['append'] = (entries, stored, to) => {
      if (version !== 'earlier' && this.random() < 0.3) this.appendAlone(journal, LATER_OPTIONAL, codec);
      if (knowsRequired(version) && this.random() < 0.3) this.appendAlone(journal, LATER_REQUIRED, codec);
      journal.append(
        entries.map((entry) => {
          const changed = entryOf(version, entry);
          return changed.length <= journal.entryBytesMax ? changed : entry;
        }),
        stored,
        to,
      );
    };
    // Everything else is the journal's.
    return Object.assign(Object.create(journal) as Journal, { append });
  }

  private appendAlone(journal: Journal, kind: number, codec: CodecName): void {
    const isRequired = kind === LATER_REQUIRED;
    this.mayHaveRequired ||= isRequired;
    const durable = ({ error }: { readonly error: Error | null }): void => {
      this.hasRequired ||= isRequired && error === null;
    };
    journal.append([aloneEntry(kind, codec)], undefined, { tell: { durable } });
  }
}

/** The fold of the snapshots that a leader of this version makes. */
export function foldOf(version: LeaderVersion): Fold<Ledger> {
  const isKnown = knowsRequired(version);
  return {
    ...ledgerFold,
    apply: (ledger, lsn, payload, type, blob) =>
      ledgerFold.apply(ledger, lsn, isKnown ? withoutRequired(payload) : payload, type, blob),
    restore: (ledger, chunk) => {
      if (!isKnown || chunk[0] !== LATER_REQUIRED) ledgerFold.restore(ledger, chunk);
    },
    *save(ledger) {
      if (version === 'earlier') ledger.traces.clear();
      const isLater = version === 'later' || isKnown;
      for (const chunk of ledgerFold.save(ledger)) yield isLater ? chunkWithLaterFields(chunk) : chunk;
      if (isLater) yield laterChunk(LATER_OPTIONAL);
      if (isKnown) yield laterChunk(LATER_REQUIRED);
    },
  };
}

/** An entry without a required record of a later version, which is always an entry of its own. */
export function withoutRequired<T extends Uint8Array>(entry: T): T {
  const isLine = entry[0] === JSON_START && Buffer.from(entry).includes(REQUIRED_LINE);
  const isRequired = isLine || entry[0] === LATER_REQUIRED;
  return isRequired ? (entry.subarray(0, 0) as T) : entry;
}

export function knowsRequired(version: LeaderVersion): boolean {
  return version === 'raising' || version === 'forgetful';
}

/** The folder has the format of a later version. */
export function isRaised(disk: SimulatedDisk): boolean {
  return disk.file('STORE')?.content.includes(`"since":"${LATER_FORMAT.since}"`) === true;
}

/** `{` */
const JSON_START = 0x7b;
const REQUIRED_LINE = '{"type":"later_required"';

function aloneEntry(kind: number, codec: CodecName): Uint8Array {
  if (codec === 'binary') return bytesOf((out) => laterRecord(out, kind));
  const line = `${REQUIRED_LINE},"at":5.5,"content":"of a later version"}`;
  return Buffer.from(kind === LATER_REQUIRED ? line : line.replace('required"', 'optional","optional":true'));
}

function entryOf(version: LeaderVersion, entry: Uint8Array): Uint8Array {
  if (entry[0] === JSON_START) return lineOf(version, Buffer.from(entry).toString());
  const records: Uint8Array[] = [];
  decodeRecords(entry, (record) => {
    const kept = version === 'earlier' ? withoutOptionalFields(record) : record;
    const bytes = bytesOf((out) => encodeRecord(kept, out));
    records.push(version === 'earlier' ? bytes : withLaterFields(bytes));
    if (version !== 'earlier') records.push(bytesOf((out) => laterRecord(out, LATER_OPTIONAL)));
  });
  return Buffer.concat(records);
}

function lineOf(version: LeaderVersion, text: string): Uint8Array {
  const line = JSON.parse(text) as LedgerRecord;
  const kept = version === 'earlier' ? withoutOptionalFields(line) : { ...line, later: { content: [1, 2] } };
  return Buffer.from(JSON.stringify(kept));
}

/** An earlier version has streams, and neither of these. */
const OPTIONAL = ['by', 'trace'];

function withoutOptionalFields(record: LedgerRecord): LedgerRecord {
  const entries = Object.entries(record).filter(([name]) => !OPTIONAL.includes(name));
  const kept = Object.fromEntries(entries) as unknown as LedgerRecord; // the others are optional
  if (kept.type !== 'enqueue_all') return kept;
  return { ...kept, jobs: kept.jobs.map(({ trace: _trace, ...job }) => job) };
}

function someOf<T>(values: readonly T[], random: () => number): T | undefined {
  return values[Math.floor(random() * values.length)];
}
