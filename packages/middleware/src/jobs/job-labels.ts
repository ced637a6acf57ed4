import type { Attributes } from '@opentelemetry/api';

const OTHER = '_OTHER';
/** Values of labels that are words of a protocol: few, unless somebody sends nonsense. */
const WORDS_MAX = 50;
const WORD = /^[A-Za-z][\w.-]{0,63}$/;

/** The labels of job metrics, each set made once and their number bounded. */
export class JobLabels {
  private readonly max: number;
  private readonly execs = new Map<string, Attributes>();
  private readonly more = new Map<string, Attributes>();
  private readonly words = new Set<string>();
  private readonly rest = jobAttributes(OTHER);

  constructor(max: number) {
    this.max = max;
  }

  of(exec: string | undefined): Attributes {
    const known = this.execs.get(exec ?? OTHER);
    if (known !== undefined) return known;
    if (exec === undefined || this.execs.size >= this.max) return this.rest;
    const made = jobAttributes(exec);
    this.execs.set(exec, made);
    return made;
  }

  /** The labels of an exec and one more. */
  with(exec: string | undefined, name: string, value: string | undefined): Attributes {
    const base = this.of(exec);
    const word = this.word(value);
    const key = `${String(base['messaging.destination.name'])} ${name} ${word}`;
    let made = this.more.get(key);
    if (made === undefined) {
      made = Object.freeze({ ...base, [name]: word });
      this.more.set(key, made);
    }
    return made;
  }

  /** A word that may be a label: never a text. */
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
