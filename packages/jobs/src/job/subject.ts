/**
 * Subjects as NATS means them: tokens joined by dots; `*` stands for exactly one token, `>` for one or more at the end. Case matters (A38).
 */
export function subjectMatches(pattern: string, subject: string): boolean {
  const want = pattern.split('.');
  const have = subject.split('.');
  for (let i = 0; i < want.length; i += 1) {
    if (want[i] === '>') return i === want.length - 1 && have.length > i;
    if (i >= have.length) return false;
    if (want[i] !== '*' && want[i] !== have[i]) return false;
  }
  return want.length === have.length;
}

/** Whether a text can be a pattern: no empty token, wildcards alone in theirs, `>` last. */
export function isSubjectPattern(pattern: string): boolean {
  if (pattern.length === 0 || pattern.length > 512) return false;
  const tokens = pattern.split('.');
  return tokens.every((token, i) => {
    if (token === '>') return i === tokens.length - 1;
    return token === '*' || /^[^\s.*>]+$/.test(token);
  });
}
