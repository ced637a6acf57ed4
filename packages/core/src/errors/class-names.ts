/**
 * Sets the names of classes as texts: a minifier shortens the names in the source, and logs, stacks and
 * `console.log` show them. Property names stay: `keepClassNames({ OptionError })`.
 */
export function keepClassNames(classes: Readonly<Record<string, object>>): void {
  for (const [name, Class] of Object.entries(classes))
    Object.defineProperty(Class, 'name', { value: name, configurable: true });
}
