const TOKENS_MAX = 16;
const TOKEN_CHARS_MAX = 64;
const SUBJECT_CHARS_MAX = 255;
const DOT = 0x2e;

/** 1 to 16 tokens of `[A-Za-z0-9_-]{1,64}` joined by dots, 255 characters in all, without wildcards. */
export function isSubject(text: string): boolean {
  if (text.length === 0 || text.length > SUBJECT_CHARS_MAX) return false;
  let tokens = 1;
  let inToken = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (inToken === 0) return false;
      inToken = 0;
      tokens += 1;
    } else if (isTokenChar(code)) {
      inToken += 1;
      if (inToken > TOKEN_CHARS_MAX) return false;
    } else {
      return false;
    }
  }
  return inToken > 0 && tokens <= TOKENS_MAX;
}

/** A pattern of rules and workers, as in NATS: `*` is one token, a last `>` is one or more, never none. */
export function isSubjectPattern(text: string): boolean {
  const tokens = text.split('.');
  const last = tokens.length - 1;
  const literal = tokens.map((token, i) => (token === '*' || (token === '>' && i === last) ? 'x' : token));
  return isSubject(literal.join('.'));
}

/** The pattern was checked by `isSubjectPattern`, the subject by `isSubject`. Upper and lower case differ. */
export function matchesSubject(pattern: string, subject: string): boolean {
  let p = 0;
  let s = 0;
  while (p < pattern.length) {
    if (s >= subject.length) return false;
    const patternEnd = tokenEnd(pattern, p);
    const subjectEnd = tokenEnd(subject, s);
    if (patternEnd === p + 1 && pattern[p] === '>') return true;
    const wild = patternEnd === p + 1 && pattern[p] === '*';
    if (!wild && !sameToken(pattern, p, patternEnd, subject, s, subjectEnd)) return false;
    p = patternEnd + 1;
    s = subjectEnd + 1;
  }
  return s >= subject.length;
}

/** Any text as one token of a subject, for subjects that contain names such as `ann/worker.1`. */
export function subjectTokenOf(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_-]/g, '_');
}

function tokenEnd(text: string, from: number): number {
  const dot = text.indexOf('.', from);
  return dot < 0 ? text.length : dot;
}

function sameToken(a: string, aFrom: number, aEnd: number, b: string, bFrom: number, bEnd: number): boolean {
  if (aEnd - aFrom !== bEnd - bFrom) return false;
  return a.startsWith(b.slice(bFrom, bEnd), aFrom);
}

function isTokenChar(code: number): boolean {
  return (
    (code >= 0x61 && code <= 0x7a) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x30 && code <= 0x39) ||
    code === 0x2d ||
    code === 0x5f
  );
}
