// A gateway of its own for the leader on a port, and open pages: connections that read every change. `pages-process.js PORT PAGES`.
import { serveDashboard } from '@troupe/dashboard';
import { connectClient } from '@troupe/jobs';

const [port, pages] = process.argv.slice(2).map(Number);
const client = await connectClient({ address: { port: port ?? 0 }, name: 'pages' });
const server = await serveDashboard({ client, port: 0 });

/** The views of the pages in turn: each follows an answer beside the overview. */
const VIEWS = [
  '/api/queues',
  '/api/actors',
  '/api/dead-letters/groups',
  '/api/schedules',
  '/api/audit?max=100',
] as const;

async function openPage(number: number): Promise<void> {
  const view = VIEWS[number % VIEWS.length] as string; // below the length
  const { body } = await fetch(`${server.url}/api/live?look=${encodeURIComponent(view)}`);
  const reader = body?.getReader();
  await reader?.read();
  const readOn = async (): Promise<void> => {
    while ((await reader?.read())?.done === false);
  };
  void readOn();
}

await Promise.all(Array.from({ length: pages ?? 0 }, (_, number) => openPage(number)));
process.send?.('ready');
