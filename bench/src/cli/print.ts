/** Prints one line on standard output, or into the list of a test. */
export type Print = (line: string) => void;
