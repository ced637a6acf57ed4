import type { MessageView } from '@troupe/core';
import { type OptionRule, rule } from '@troupe/core/option-check';

/** One state for all messages, one per actor, or one per key; a message with the key undefined has none. */
export type MessageScope = 'all' | 'actor' | ((message: MessageView) => string | undefined);

export const messageScope: OptionRule = rule(
  "'all', 'actor' or a function",
  (value) => value === 'all' || value === 'actor' || typeof value === 'function',
);
