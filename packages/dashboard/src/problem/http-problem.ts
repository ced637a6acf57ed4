/** Why the gateway itself refuses a request; errors of the job system keep their own codes. */
export type HttpProblemCode =
  | 'ERR_HTTP_BODY_TOO_LARGE'
  | 'ERR_HTTP_CROSS_SITE'
  | 'ERR_HTTP_EXECS_FULL'
  | 'ERR_HTTP_FORBIDDEN'
  | 'ERR_HTTP_HOST'
  | 'ERR_HTTP_INPUT'
  | 'ERR_HTTP_INPUT_GONE'
  | 'ERR_HTTP_INTERNAL'
  | 'ERR_HTTP_METHOD'
  | 'ERR_HTTP_NOT_FOUND'
  | 'ERR_HTTP_RATE'
  | 'ERR_HTTP_REDACTED'
  | 'ERR_HTTP_TOKEN';

/** A refused request. It becomes an answer in the form of problem+json (RFC 9457). */
export class HttpProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: HttpProblemCode | string, detail: string, headers = {}) {
    super(detail);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  override get name(): string {
    return 'HttpProblem';
  }

  response(): Response {
    const { status, code, message: detail } = this;
    const type = `urn:troupe:error:${code}`;
    return new Response(`${JSON.stringify({ type, title: code, status, detail })}\n`, {
      status,
      headers: { 'content-type': 'application/problem+json', ...this.headers },
    });
  }
}

/** A parameter or a body that cannot be used. */
export function badInput(detail: string): HttpProblem {
  return new HttpProblem(400, 'ERR_HTTP_INPUT', detail);
}
