import type { ActorSystem, DeadLetter } from '@troupe/core';
import * as assert from 'uvu/assert';

/** The system of a leader process, which its public methods do not show. */
export function systemOf(process: object): ActorSystem {
  return (process as { readonly system: ActorSystem }).system;
}

/** Collects the dead letters of a system; `check` fails the test if there was one. */
export class NoDeadLetters {
  private readonly letters: string[] = [];

  constructor(system: ActorSystem) {
    system.on('dead-letter', ({ letter }) => this.letters.push(textOf(letter)));
  }

  check(): void {
    assert.equal(this.letters, []);
  }
}

export function textOf({ to, message, reason }: DeadLetter): string {
  return `${to}.${message}: ${reason}`;
}
