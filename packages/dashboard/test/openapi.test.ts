import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ROUTES } from './fuzz/request-fuzz.js';
import { GatewayRig, Shout } from './gateway-rig.js';

const document = suite('document of the API');

interface Operation {
  readonly responses: object;
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
}

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
}

document('every route is in the document, and nothing else', async () => {
  await using rig = await GatewayRig.start();
  const { openapi, paths } = (await (await rig.get('/api/openapi.json')).json()) as Document;
  assert.is(openapi, '3.1.0');
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  const routes = ROUTES.map(({ method, path }) => `${method} ${path}`);
  // The rig knows the schema of one job, which has a path of its own.
  assert.equal(documented.sort(), [...routes, `post /api/execs/${Shout.exec}/jobs`].sort());
});

document('a job whose schema can be written as JSON Schema has it in the document', async () => {
  const shape = { type: 'string', maxLength: 9 };
  const jsonSchema = { input: () => shape, output: () => ({}) };
  const input = { '~standard': { ...Shout.input['~standard'], jsonSchema } };
  await using rig = await GatewayRig.start({ jobs: [{ ...Shout, input }] });
  const { paths } = (await (await rig.get('/api/openapi.json')).json()) as Document;
  const submit = paths['/api/execs/text.shout/jobs']?.['post'];
  assert.equal(submit?.requestBody?.content['application/json'], { schema: shape });
  assert.ok(submit?.parameters.every(({ in: place }) => place !== 'path'));
});

document('every route of the document answers, with a status that it names', async () => {
  await using rig = await GatewayRig.start();
  const { paths } = (await (await rig.get('/api/openapi.json')).json()) as Document;
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { responses, parameters }] of Object.entries(methods)) {
      for (const name of path.match(/\{\w+\}/g) ?? [])
        assert.ok(
          parameters.some((one) => `{${one.name}}` === name),
          `${path} documents ${name}`,
        );
      const url =
        rig.url + path.replace('{exec}', 'sample.echo').replace('{id}', await rig.submit('sample.echo', 1));
      const body = method === 'post' ? { body: '{"ids":["x"]}' } : {};
      const answer = await fetch(url, { method: method.toUpperCase(), ...body });
      await answer.body?.cancel();
      const { status } = answer;
      const isProblem = status >= 400 && 'default' in responses;
      assert.ok(String(status) in responses || isProblem, `${method} ${path} answered ${status}`);
      assert.ok(status < 500, `${method} ${path} answered ${status}`);
    }
  }
});

document.run();
