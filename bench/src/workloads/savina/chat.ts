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

/** Counts the outstanding messages of a turn and resolves at zero. */
class Turn {
  readonly ended = new Deferred();
  private outstanding: number;
  handled = 0;

  constructor(clients: number) {
    this.outstanding = clients;
  }

  add(more: number): void {
    this.outstanding += more;
  }

  handledOne(): void {
    this.outstanding -= 1;
    this.handled += 1;
    if (this.outstanding === 0) this.ended.resolve();
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

/** Random friendships, drawn before the clock starts: every pair once, with the same probability. */
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

/** A chat application in turns: clients compute, post, leave and invite at random. */
export const chat: Workload = {
  name: 'chat',
  unit: 'messages',
  note: 'after "Run, Actor, Run" (AGERE 2019); computing is fib(15); `turnDeviation` is its quality of service, in ms',
  prepare(system, scale) {
    const clients = scaled(1_024, scale, 16);
    const friends = friendships(clients);
    const startTurn = system.tell<Turn>('startTurn');
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
          message.turn.add(ctx.state.members.length);
          for (const member of ctx.state.members) read(member, message);
          message.turn.handledOne();
        },
        join(ctx, { member, turn }: Membership) {
          ctx.state.members.push(member);
          turn.handledOne();
        },
        leave(ctx, { member, turn }: Membership) {
          const at = ctx.state.members.indexOf(member);
          if (at !== -1) ctx.state.members.splice(at, 1);
          turn.handledOne();
        },
      },
    });
    const openRoom = (state: Client, self: Ref, turn: Turn): void => {
      const room = system.spawn(Room);
      rooms.push(room);
      state.chats.push(room);
      const invitedFriends = state.friends.filter(() => state.random.below(100) < invitePercent);
      turn.add(1 + invitedFriends.length);
      join(room, { member: self, turn });
      for (const friend of invitedFriends) invited(friend, { chat: room, turn });
      turn.handledOne();
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
        turn.handledOne();
      }
    };
    const ClientActor = system.define({
      name: 'chat-client',
      state: ({ index, all }: { index: number; all: readonly Ref[] }): Client => {
        let known: readonly Ref[] | undefined;
        return {
          index,
          random: new SeededRandom(seed * 1_000 + index),
          // Evaluated later, because not all clients are spawned yet.
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
          message.turn.handledOne();
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
        startTurn(ctx, turn: Turn) {
          for (const member of ctx.state.members) act(member, turn);
        },
      },
    });
    return async (): Promise<Outcome> => {
      rooms = [];
      const all: Ref[] = [];
      for (let index = 0; index < clients; index += 1) all.push(system.spawn(ClientActor, { index, all }));
      const directoryRefs = Array.from({ length: directories }, (_, at) =>
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
        for (const directory of directoryRefs) startTurn(directory, turn);
        await turn.ended.promise;
        times.push(performance.now() - began);
        attempted += turn.handled;
        completed += turn.handled;
      }
      for (const ref of [...all, ...directoryRefs, ...rooms]) system.stop(ref);
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
