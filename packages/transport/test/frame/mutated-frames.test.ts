// timeout: 180s
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runMutations } from './frame-mutation.js';

const mutation = suite('mutated frames');
const INPUTS = 500_000;

mutation('mutated frames throw nothing and stay within bounds of memory and time', () => {
  const { frames } = runMutations(20_261, (inputs) => inputs >= INPUTS);
  assert.ok(frames > INPUTS / 10, `only ${frames} frames were decoded: the mutations destroy too many`);
});

mutation.run();
