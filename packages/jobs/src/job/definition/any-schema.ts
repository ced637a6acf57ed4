/** Accepts every value: for values that are checked elsewhere. */
export const ANY = {
  '~standard': { version: 1, vendor: 'troupe', validate: (value: unknown) => ({ value }) },
} as const;
