/** The most tags of one job, and the most characters of one. */
const TAGS_MAX = 16;
const TAG_CHARS_MAX = 64;

/** Why these are no tags of a job; undefined: they are. */
export function tagsProblem(tags: readonly string[]): string | undefined {
  if (tags.length > TAGS_MAX) return `${tags.length} tags, at most ${TAGS_MAX}`;
  const bad = tags.find((tag) => typeof tag !== 'string' || !/^[^\s]{1,64}$/u.test(tag));
  return bad === undefined ? undefined : `a tag is a text of 1 to ${TAG_CHARS_MAX} characters without blanks`;
}
