/**
 * An input or output that is a text, as it is: JSON would only put quotes around it, or escapes into it, for the other side to take
 * them out again (ADR 0136). Short and in ASCII, so each character is one byte; any other text is JSON like everything else.
 */
export class TextPayload {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  get length(): number {
    return this.text.length;
  }
}
