/** The version of the job messages: another number is another layout (docs/wire-protocol.md §12). */
export const JOB_PROTOCOL = 1;

/** The features that this version knows. A peer uses one only with a peer that named it too. */
export const JOB_FEATURES = ['streams', 'feeds'] as const;

/** A feature of this version; `feeds` is named by no peer without `streams`. */
export type JobFeature = (typeof JOB_FEATURES)[number];

/** The beginning of every hello and welcome. Absent: this version, without features. */
export interface ProtocolOffer {
  readonly protocol?: number | undefined;
  readonly features?: readonly string[] | undefined;
}
