/** Folder and variables of this process. */
export function nodeWorkerSurroundings(): {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
} {
  return { cwd: process.cwd(), env: process.env };
}
