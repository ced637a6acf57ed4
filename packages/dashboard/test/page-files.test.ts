import { gzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { GatewayRig } from './gateway-rig.js';

const files = suite('files of the page');
const SCRIPT_BYTES_MAX = 100_000;

files('the script of the page has at most 100 kB compressed, and the document has none inline', async () => {
  await using rig = await GatewayRig.start();
  const script = gzipSync(Buffer.from(await (await rig.get('/page.js')).arrayBuffer())).length;
  assert.ok(script > 1_000 && script <= SCRIPT_BYTES_MAX, `${script} bytes`);
  const html = await (await rig.get('/')).text();
  const scripts = html.match(/<script[^>]*>[^<]*/g) ?? [];
  assert.equal(scripts, ['<script type="module" src="/page.js">']);
  assert.not.match(html, /\son\w+=|https?:\/\//);
});

files.run();
