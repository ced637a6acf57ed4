import type { RefusalCode } from '../../jobs-error.js';
import type { Refusal } from '../../protocol/client/client-messages.js';

export const RETRY_AFTER_MS = 1_000;

export function refusal(code: RefusalCode, problem: string, retryAfterMs: number): Refusal {
  return { code, problem, retryAfterMs };
}
