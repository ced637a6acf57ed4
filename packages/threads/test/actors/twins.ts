import { defineActor } from '@troupe/core';

/** Two definitions of one name: a thread cannot know which is meant. */
export const FirstTwin = defineActor('twin', { handlers: { ping: () => 1 }, module: import.meta.url });
export const SecondTwin = defineActor('twin', { handlers: { ping: () => 2 }, module: import.meta.url });
