import { createContextKey, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ChainedContext } from '#src/telemetry/chained-context.js';

const chained = suite('chained context');
const colour = createContextKey('colour');
const size = createContextKey('size');

chained('a chained context has its own value and the values of its base', () => {
  const base = ROOT_CONTEXT.setValue(colour, 'red');
  const context = ChainedContext.on(base).setValue(size, 3);
  assert.is(context.getValue(colour), 'red');
  assert.is(context.getValue(size), 3);
  assert.is(base.getValue(size), undefined);
  const shadowed = context.setValue(colour, 'blue');
  assert.is(shadowed.getValue(colour), 'blue');
  assert.is(shadowed.getValue(size), 3);
});

chained('a deleted value is gone, also from the base', () => {
  const context = ChainedContext.on(ROOT_CONTEXT.setValue(colour, 'red'))
    .setValue(size, 3)
    .setValue(colour, 'blue');
  const without = context.deleteValue(colour);
  assert.is(without.getValue(colour), undefined);
  assert.is(without.getValue(size), 3);
  assert.is(context.deleteValue(size).getValue(colour), 'blue');
});

chained('a chain of a thousand spans keeps only the last one alive', () => {
  let context = ChainedContext.on(ROOT_CONTEXT.setValue(colour, 'red'));
  for (let i = 0; i < 1_000; i += 1) {
    const spanContext = { traceId: 'a'.repeat(32), spanId: i.toString(16).padStart(16, '0'), traceFlags: 1 };
    context = trace.setSpan(ChainedContext.on(context), trace.wrapSpanContext(spanContext));
  }
  assert.is(trace.getSpanContext(context)?.spanId, (999).toString(16).padStart(16, '0'));
  assert.is(context.getValue(colour), 'red');
  const { base } = context as unknown as { readonly base: object };
  assert.not.instance(base, ChainedContext);
});

chained.run();
