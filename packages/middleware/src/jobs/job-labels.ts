import type { Attributes } from '@opentelemetry/api';

const OTHER = '_OTHER';
/** Distinct label values from events: causes, reasons and codes of the protocol are few. */
const WORDS_MAX = 50;
const WORD = /^[A-Za-z][\w.-]{0,63}$/;

/** The labels of job metrics, made once; their number is bounded. */
export class JobLabels {
  private readonly max: number;
  private readonly byExec = new Map<string, Attributes>();
  private readonly extended = new Map<string, Attributes>();
  private readonly words = new Set<string>();
  private readonly other = jobAttributes(OTHER);

  constructor(max: number) {
    this.max = max;
  }

  of(exec: string | undefined): Attributes {
    const known = this.byExec.get(exec ?? OTHER);
    if (known !== undefined) return known;
    if (exec === undefined || this.byExec.size >= this.max) return this.other;
    const made = jobAttributes(exec);
    this.byExec.set(exec, made);
    return made;
  }

  /** The labels of an exec with one more label. */
  with(exec: string | undefined, name: string, value: string | undefined): Attributes {
    const base = this.of(exec);
    const word = this.word(value);
    const key = `${String(base['messaging.destination.name'])} ${name} ${word}`;
    let made = this.extended.get(key);
    if (made === undefined) {
      made = Object.freeze({ ...base, [name]: word });
      this.extended.set(key, made);
    }
    return made;
  }

  /** A single word as a label value; free text and words beyond the bound become `_OTHER`. */
  word(value: string | undefined): string {
    if (value === undefined) return OTHER;
    if (this.words.has(value)) return value;
    if (!WORD.test(value) || this.words.size >= WORDS_MAX) return OTHER;
    this.words.add(value);
    return value;
  }
}

function jobAttributes(exec: string): Attributes {
  return Object.freeze({ 'messaging.system': 'troupe.jobs', 'messaging.destination.name': exec });
}
