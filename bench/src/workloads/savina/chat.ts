import { SeededRandom } from '@troupe/core/testing';
import type { Ref } from '../../adapters/actor-system.js';
import { quantile } from '../../stats/quantile.js';
import { Deferred } from '../deferred.js';
import { type Outcome, scaled, type Workload } from '../workload.js';

const directories = 8;
const turns = 20;
const computePercent = 50;
const postPercent = 80;
const leavePercent = 25;
const invitePercent = 25;
const befriendPercent = 10;
const computeDepth = 15;
const seed = 42;

function fibonacci(n: number): number {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

type Action = 'compute' | 'post' | 'leave' | 'invite' | 'none';

function chooseAction(random: SeededRandom): Action {
  const roll = (percent: number): boolean => random.below(100) < percent;
  if (roll(computePercent)) return 'compute';
  if (roll(postPercent)) return 'post';
  if (roll(leavePercent)) return 'leave';
  return roll(invitePercent) ? 'invite' : 'none';
}

/** Counts what a turn still owes; opens when all is paid. */
class Turn {
  readonly ended = new Deferred();
  private open: number;
  handled = 0;

  constructor(clients: number) {
    this.open = clients;
  }

  expect(more: number): void {
    this.open += more;
  }

  settle(): void {
    this.open -= 1;
    this.handled += 1;
    if (this.open === 0) this.ended.resolve();
  }
}

interface Client {
  readonly index: number;
  readonly random: SeededRandom;
  readonly friends: readonly Ref[];
  readonly chats: Ref[];
  computed: number;
  read: number;
}

interface Post {
  readonly turn: Turn;
  readonly from: number;
}

interface Membership {
  readonly member: Ref;
  readonly turn: Turn;
}

interface Chat {
  readonly members: Ref[];
  posts: number;
}

/** Friendships are drawn before the clock starts: every pair once, with the same chance. */
function friendships(clients: number): readonly (readonly number[])[] {
  const random = new SeededRandom(seed);
  const friends = Array.from({ length: clients }, (): number[] => []);
  for (let one = 0; one < clients; one += 1) {
    for (let other = one + 1; other < clients; other += 1) {
      if (random.below(100) >= befriendPercent) continue;
      friends[one]?.push(other);
      friends[other]?.push(one);
    }
  }
  return friends;
}

/** A chat application in turns: clients compute, post, leave and invite by the roll of dice. */
export const chat: Workload = {
  name: 'chat',
  unit: 'messages',
  note: 'after "Run, Actor, Run" (AGERE 2019); computing is fib(15); `turnDeviation` is its quality of service, in ms',
  prepare(system, scale) {
    const clients = scaled(1_024, scale, 16);
    const friends = friendships(clients);
    const poke = system.tell<Turn>('poke');
    const act = system.tell<Turn>('act');
    const post = system.tell<Post>('post');
    const read = system.tell<Post>('read');
    const join = system.tell<Membership>('join');
    const leave = system.tell<Membership>('leave');
    const invited = system.tell<{ chat: Ref; turn: Turn }>('invited');
    let rooms: Ref[] = [];
    const Room = system.define({
      name: 'chat-room',
      state: (): Chat => ({ members: [], posts: 0 }),
      handlers: {
        post(ctx, message: Post) {
          ctx.state.posts += 1;
          message.turn.expect(ctx.state.members.length);
          for (const member of ctx.state.members) read(member, message);
          message.turn.settle();
        },
        join(ctx, { member, turn }: Membership) {
          ctx.state.members.push(member);
          turn.settle();
        },
        leave(ctx, { member, turn }: Membership) {
          const at = ctx.state.members.indexOf(member);
          if (at !== -1) ctx.state.members.splice(at, 1);
          turn.settle();
        },
      },
    });
    const openRoom = (state: Client, self: Ref, turn: Turn): void => {
      const room = system.spawn(Room);
      rooms.push(room);
      state.chats.push(room);
      const guests = state.friends.filter(() => state.random.below(100) < invitePercent);
      turn.expect(1 + guests.length);
      join(room, { member: self, turn });
      for (const guest of guests) invited(guest, { chat: room, turn });
      turn.settle();
    };
    const perform = (state: Client, self: Ref, turn: Turn): void => {
      const action = chooseAction(state.random);
      const room = state.chats[state.random.below(Math.max(1, state.chats.length))];
      if (action === 'invite') openRoom(state, self, turn);
      else if (action === 'post' && room !== undefined) post(room, { turn, from: state.index });
      else if (action === 'leave' && room !== undefined) {
        state.chats.splice(state.chats.indexOf(room), 1);
        leave(room, { member: self, turn });
      } else {
        if (action === 'compute') state.computed += fibonacci(computeDepth);
        turn.settle();
      }
    };
    const ClientActor = system.define({
      name: 'chat-client',
      state: ({ index, all }: { index: number; all: readonly Ref[] }): Client => {
        let known: readonly Ref[] | undefined;
        return {
          index,
          random: new SeededRandom(seed * 1_000 + index),
          // Resolved late, because the later clients do not exist yet.
          get friends() {
            known ??= friends[index]?.flatMap((friend) => all[friend] ?? []) ?? [];
            return known;
          },
          chats: [],
          computed: 0,
          read: 0,
        };
      },
      handlers: {
        act(ctx, turn: Turn) {
          perform(ctx.state, ctx.self, turn);
        },
        read(ctx, message: Post) {
          ctx.state.read += 1;
          message.turn.settle();
        },
        invited(ctx, { chat: room, turn }: { chat: Ref; turn: Turn }) {
          ctx.state.chats.push(room);
          join(room, { member: ctx.self, turn });
        },
      },
    });
    const Directory = system.define({
      name: 'directory',
      state: (members: readonly Ref[]) => ({ members }),
      handlers: {
        poke(ctx, turn: Turn) {
          for (const member of ctx.state.members) act(member, turn);
        },
      },
    });
    return async (): Promise<Outcome> => {
      rooms = [];
      const all: Ref[] = [];
      for (let index = 0; index < clients; index += 1) all.push(system.spawn(ClientActor, { index, all }));
      const lists = Array.from({ length: directories }, (_, at) =>
        system.spawn(
          Directory,
          all.filter((_, index) => index % directories === at),
        ),
      );
      const times: number[] = [];
      let attempted = 0;
      let completed = 0;
      for (let count = 0; count < turns; count += 1) {
        const turn = new Turn(clients);
        const began = performance.now();
        for (const list of lists) poke(list, turn);
        await turn.ended.promise;
        times.push(performance.now() - began);
        attempted += turn.handled;
        completed += turn.handled;
      }
      for (const ref of [...all, ...lists, ...rooms]) system.stop(ref);
      const deviation = quantile(times, 0.9) - quantile(times, 0.1);
      return {
        attempted,
        completed,
        oracle: rooms.length > 0,
        extra: { turnDeviation: deviation, rooms: rooms.length },
      };
    };
  },
};
