// A gateway of its own for the leader on a port, and open pages: connections that read every change. `pages-process.js PORT PAGES`.
import { serveDashboard } from '@troupe/dashboard';
import { connectClient } from '@troupe/jobs';

const [port, pages] = process.argv.slice(2).map(Number);
const client = await connectClient({ address: { port: port ?? 0 }, name: 'pages' });
const server = await serveDashboard({ client, port: 0 });

async function openPage(): Promise<void> {
  const { body } = await fetch(`${server.url}/api/live`);
  const reader = body?.getReader();
  await reader?.read();
  const readOn = async (): Promise<void> => {
    while ((await reader?.read())?.done === false);
  };
  void readOn();
}

await Promise.all(Array.from({ length: pages ?? 0 }, openPage));
process.send?.('ready');
