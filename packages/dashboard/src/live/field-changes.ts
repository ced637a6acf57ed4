export interface Changes {
  /** New fields, and those with another value. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** Names of fields that are no more. */
  readonly gone: readonly string[];
}

/** The fields of an object that differ from those of the object before. */
export class FieldChanges {
  /** Each field as JSON. */
  private known = new Map<string, string>();

  next(value: object): Changes {
    const before = this.known;
    this.known = new Map();
    const fields: [string, unknown][] = [];
    for (const [field, one] of Object.entries(value)) {
      const text = JSON.stringify(one) as string | undefined;
      if (text === undefined) continue;
      if (before.get(field) !== text) fields.push([field, one]);
      this.known.set(field, text);
    }
    const gone = [...before.keys()].filter((field) => !this.known.has(field));
    return { fields: Object.fromEntries(fields), gone };
  }
}
