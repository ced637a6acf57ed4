// A leader on PostgreSQL as a process. Arguments: <url> <port> <name> [schema]; with port 0 it leads at once, otherwise it stands
// by while another one leads. SIGTERM hands over.
import { startLeader } from '@troupe/jobs';
import { postgresJournal } from '@troupe/postgres';

const [url = '', port = '0', name = '', schema = 'troupe'] = process.argv.slice(2);

process.once('disconnect', () => process.exit(0));

const leader = await startLeader({
  journal: postgresJournal({
    url,
    schema,
    leader: name,
    addresses: [`127.0.0.1:${port}`],
    standby: true,
    onStandby: () => process.send?.('standby'),
  }),
  address: { port: Number(port) },
  onFatal: (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(75);
  },
});
process.send?.('port' in leader.address ? leader.address.port : 0);
process.once('SIGTERM', () => void leader.close().then(() => process.exit(0)));
