export { freePort, PostgresServer } from './node-postgres-server.js';
