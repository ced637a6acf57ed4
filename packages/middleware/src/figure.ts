/** One number of a middleware, read whenever metrics are collected. Labels are few and known beforehand. */
export interface Figure {
  /** In the manner of OpenTelemetry: lower case, dots, no unit. */
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly unit: string;
  readonly about: string;
  readonly labels: Readonly<Record<string, string>>;
  read(): number;
}

/** A middleware that counts what it does. Telemetry exports the figures of those it is told of. */
export interface Measured {
  readonly figures: readonly Figure[];
}

/** A counter of something that happens to messages, labelled with the name of the middleware. */
export function messageCounter(name: string, middleware: string, about: string, read: () => number): Figure {
  const labels = { 'troupe.middleware.name': middleware };
  return { name, kind: 'counter', unit: '{message}', about, labels, read };
}
