import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runMessageMutations } from './message-mutation.js';

const mutation = suite('mutated messages');
const INPUTS = 200_000;

mutation('mutated messages of every type are read or malformed, and nothing else', () => {
  const { messages } = runMessageMutations(20_261, (inputs) => inputs >= INPUTS);
  assert.ok(messages > INPUTS / 20, `only ${messages} were messages: the mutations destroy too many`);
});

mutation.run();
