type Line = Record<string, unknown>;

/** The line with the sizes of payloads and results in their place. It cannot be loaded. */
export function withoutPayloads(line: Readonly<Line>): Line {
  const shown: Line = {};
  for (const [name, value] of Object.entries(line)) {
    const [, field, form] = /^(payload|result)(Text|Base64)?$/.exec(name) ?? [];
    if (field !== undefined) shown[`${field}Bytes`] = byteLength(value, form);
    else if (name === 'jobs' && Array.isArray(value)) shown[name] = value.map(innerWithoutPayloads);
    else shown[name] = name === 'end' ? innerWithoutPayloads(value) : value;
  }
  return shown;
}

function innerWithoutPayloads(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? withoutPayloads(value as Line) : value;
}

function byteLength(value: unknown, form: string | undefined): number {
  if (form === undefined) return Buffer.byteLength(JSON.stringify(value));
  return Buffer.byteLength(String(value), form === 'Base64' ? 'base64' : 'utf8');
}
