/** One number of a middleware, read whenever metrics are collected. Its labels are few and fixed. */
export interface Metric {
  /** In the manner of OpenTelemetry: lower case, dots, no unit. */
  readonly name: string;
  readonly kind: 'counter' | 'gauge';
  readonly unit: string;
  readonly description: string;
  readonly labels: Readonly<Record<string, string>>;
  read(): number;
}

/** A middleware with metrics of its own. Telemetry exports those of every middleware of its system. */
export interface MetricSource {
  /** Read whenever metrics are collected. */
  readonly metrics: readonly Metric[];
}

/** A counter of messages, labelled with the name of the middleware. */
export function messageCounter(
  name: string,
  middleware: string,
  description: string,
  read: () => number,
): Metric {
  const labels = { 'troupe.middleware.name': middleware };
  return { name, kind: 'counter', unit: '{message}', description, labels, read };
}
