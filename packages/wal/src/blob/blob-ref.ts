/** A payload kept in its own file, named after its content. */
export interface BlobRef {
  readonly sha256: string;
  readonly bytes: number;
}
