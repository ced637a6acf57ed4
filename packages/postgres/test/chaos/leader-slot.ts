import { freePort } from '@troupe/postgres/testing';
import { RoleProcess } from '../role-process.js';
import { Link } from './link.js';

/** One leader process that is started again whenever it has ended, as a service manager does. */
export class LeaderSlot implements AsyncDisposable {
  readonly links: readonly Link[];
  readonly port: number;
  process: RoleProcess;
  /** The exit codes and signals of its processes so far. */
  readonly ends: (number | string | null)[] = [];
  private readonly name: string;
  private isClosed = false;

  private constructor(name: string, port: number, links: readonly Link[]) {
    this.name = name;
    this.port = port;
    this.links = links;
    this.process = this.start();
  }

  static async start(name: string, servers: readonly { readonly port: number }[]): Promise<LeaderSlot> {
    const links = await Promise.all(servers.map(({ port }) => Link.to(port)));
    return new LeaderSlot(name, await freePort(), links);
  }

  get isLeading(): boolean {
    return this.process.isAlive && this.process.events.some(({ kind }) => kind === 'leading');
  }

  /** The servers have changed their places. */
  retarget(servers: readonly { readonly port: number }[]): void {
    for (const [at, { port }] of servers.entries()) (this.links[at] as Link).target = port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isClosed = true;
    await this.process[Symbol.asyncDispose]();
    for (const link of this.links) await link[Symbol.asyncDispose]();
  }

  private start(): RoleProcess {
    const hosts = this.links.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const url = `postgres://troupe@${hosts}/postgres?target_session_attrs=read-write`;
    const process = new RoleProcess('leader', url, 'troupe', String(this.port), this.name);
    void process.exited.then((end) => {
      this.ends.push(end);
      if (!this.isClosed) this.process = this.start();
    });
    return process;
  }
}
