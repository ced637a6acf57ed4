/**
 * A copy of a function with type feedback of its own.
 *
 * V8 keeps type feedback per place in a source: all functions made at one place share what the compiler
 * learns about them. With five actor types in a process, every send would be compiled for any type at all. A
 * copy, evaluated from the function's own text, keeps a send as fast as in a process with one type.
 *
 *   benchmark    core suite, `megamorphicPingpong`: a ping among 48 actor types is as fast as among two;
 *                without copies every send goes through V8's global stub cache
 *   cost         some kilobytes and a tenth of a millisecond per definition
 *
 * Without copies everything works the same, only slower with many types. In doubt the original is used:
 *
 *   - a strict CSP or `--disallow-code-generation-from-strings`: evaluation throws
 *   - a bundler or coverage tool lets the text refer to helpers of its own (`__name` of esbuild's
 *     `--keep-names`): the rehearsal of the first copy throws, and no further copy is made
 */
export class OwnCopies<F extends (...args: never[]) => unknown> {
  private readonly original: F;
  private readonly rehearse: (copy: F) => void;
  private made = 0;
  private isSelfContained: boolean | undefined = undefined;

  /** `rehearse` runs every line of a copy, and throws where the text is not self-contained. */
  constructor(original: F, rehearse: (copy: F) => void) {
    this.original = original;
    this.rehearse = rehearse;
  }

  /** A copy, or the original where copies cannot be made. */
  next(): F {
    this.isSelfContained ??= this.passesRehearsal();
    return this.isSelfContained ? this.evaluate() : this.original;
  }

  private passesRehearsal(): boolean {
    try {
      this.rehearse(this.evaluate());
      return true;
    } catch {
      return false;
    }
  }

  private evaluate(): F {
    this.made += 1;
    // The number makes each text a new one: the compiler would find an equal text in its cache, with its
    // feedback.
    return new Function(`return ${this.original};\n//# sourceURL=troupe-ref-${this.made}`)() as F;
  }
}
