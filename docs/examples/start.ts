// What `npm start` runs: says what is in the box and whether it can be imported here.
import { performance } from 'node:perf_hooks';

const packages = ['@troupe/core', '@troupe/wal', '@troupe/transport', '@troupe/jobs', '@troupe/middleware'];

console.log(`Troupe on Node ${process.versions.node}: importing every package once`);
for (const name of packages) {
  const startedAt = performance.now();
  const { default: manifest } = await import(`${name}/package.json`, { with: { type: 'json' } });
  const exported = Object.keys(await import(name)).length;
  const ms = (performance.now() - startedAt).toFixed(0);
  console.log(`  ${name} ${manifest.version}: ${exported} public names, ${ms} ms. ${manifest.description}`);
}
console.log('done');
