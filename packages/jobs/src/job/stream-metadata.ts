/** Of the end of a stream: set by its handler, bounded as JSON. */
export type StreamMetadata = Readonly<Record<string, string | number | boolean | null>>;
