/** Metadata of the end of a stream: at most 4,096 bytes as JSON. */
export type Trailer = Readonly<Record<string, string | number | boolean | null>>;

export const TRAILER_BYTES_MAX = 4_096;
