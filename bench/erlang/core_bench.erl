%% The core suite in plain Erlang processes, message for message the same work.
-module(core_bench).
-export([counting/1, pingpong/1, ring/1, forkjoin/1, create/1, ask/1, askConcurrent/1, memory/1,
         memoryAfterMessage/1, timers/1]).
-import(harness, [scaled/2, scaled/3]).

counting(Scale) ->
    N = scaled(1000000, Scale),
    Me = self(),
    Counter = spawn(fun() -> counter(0) end),
    spawn(fun() -> flood(Counter, N), Counter ! {report, Me} end),
    receive {total, Total} -> {N, Total} end.

counter(Total) ->
    receive
        {add, By} -> counter(Total + By);
        {report, To} -> To ! {total, Total}
    end.

flood(_, 0) -> ok;
flood(Counter, N) -> Counter ! {add, 1}, flood(Counter, N - 1).

pingpong(Scale) ->
    N = scaled(1000000, Scale),
    Me = self(),
    Ponger = spawn(fun() -> ponger(0) end),
    spawn(fun() -> pinger(Ponger, N), Ponger ! {'end', Me} end),
    receive {pings, Pings} -> {2 * N, 2 * Pings} end.

pinger(_, 0) -> ok;
pinger(Ponger, N) ->
    Ponger ! {ping, self()},
    receive pong -> pinger(Ponger, N - 1) end.

ponger(Pings) ->
    receive
        {ping, From} -> From ! pong, ponger(Pings + 1);
        {'end', To} -> To ! {pings, Pings}
    end.

ring(Scale) ->
    Hops = scaled(1000000, Scale, 100),
    Me = self(),
    Members = [spawn(fun() -> receive {link, Next} -> member(Next, Me, 0) end end) || _ <- lists:seq(1, 100)],
    link_all(Members, hd(Members)),
    hd(Members) ! {token, Hops},
    receive done -> ok end,
    [Member ! {'end', Me} || Member <- Members],
    {Hops, lists:sum([receive {hops, Count} -> Count end || _ <- Members])}.

link_all([Last], First) -> Last ! {link, First};
link_all([Member, Next | Rest], First) -> Member ! {link, Next}, link_all([Next | Rest], First).

member(Next, Me, Hops) ->
    receive
        {token, Left} when Left > 1 -> Next ! {token, Left - 1}, member(Next, Me, Hops + 1);
        {token, _} -> Me ! done, member(Next, Me, Hops + 1);
        {'end', To} -> To ! {hops, Hops}
    end.

forkjoin(Scale) ->
    Each = min(100000, scaled(100000, Scale)),
    Rounds = scaled(1, Scale),
    lists:foldl(fun(_, {Attempted, Completed}) ->
                    {A, C} = fork(60, Each),
                    {Attempted + A, Completed + C}
                end, {0, 0}, lists:seq(1, Rounds)).

fork(Receivers, Each) ->
    Me = self(),
    Targets = [spawn(fun() -> receiver(0, Each, Me) end) || _ <- lists:seq(1, Receivers)],
    spawn(fun() -> fork_send(Targets, Each) end),
    {Receivers * Each, lists:sum([receive {got, Got} -> Got end || _ <- Targets])}.

receiver(Each, Each, Me) -> Me ! {got, Each};
receiver(Got, Each, Me) -> receive {add, By} -> receiver(Got + By, Each, Me) end.

fork_send(_, 0) -> ok;
fork_send(Targets, Left) -> [Target ! {add, 1} || Target <- Targets], fork_send(Targets, Left - 1).

create(Scale) ->
    N = scaled(100000, Scale),
    Me = self(),
    process_flag(message_queue_data, off_heap),
    spawn_touch(N, Me),
    {N, length([receive touched -> ok end || _ <- lists:seq(1, N)])}.

spawn_touch(0, _) -> ok;
spawn_touch(N, Me) ->
    Pid = spawn(fun() -> receive {touch, _} -> Me ! touched end end),
    Pid ! {touch, 1},
    spawn_touch(N - 1, Me).

%% `after` arms a timer for every question, as the others do for their deadline.
ask(Scale) ->
    N = scaled(100000, Scale),
    Adder = spawn(fun adder/0),
    Value = ask_loop(Adder, N, 0),
    Adder ! stop,
    {N, Value}.

ask_loop(_, 0, Value) -> Value;
ask_loop(Adder, N, Value) ->
    Tag = make_ref(),
    Adder ! {next, self(), Tag, Value},
    receive {Tag, Answer} -> ask_loop(Adder, N - 1, Answer) after 5000 -> exit(timeout) end.

adder() ->
    receive
        {next, From, Tag, Value} -> From ! {Tag, Value + 1}, adder();
        stop -> ok
    end.

askConcurrent(Scale) ->
    Flights = scaled(100, Scale),
    Adder = spawn(fun adder/0),
    Answered = flights(Adder, Flights, 0),
    Adder ! stop,
    {Flights * 1000, Answered}.

flights(_, 0, Answered) -> Answered;
flights(Adder, Left, Answered) ->
    Tag = make_ref(),
    [Adder ! {next, self(), Tag, Value} || Value <- lists:seq(1, 1000)],
    Answers = [receive {Tag, _} -> ok after 5000 -> exit(timeout) end || _ <- lists:seq(1, 1000)],
    flights(Adder, Left - 1, Answered + length(Answers)).

timers(Scale) ->
    Rounds = scaled(1000, Scale),
    timer_rounds(Rounds),
    {Rounds * 1000, Rounds * 1000}.

timer_rounds(0) -> ok;
timer_rounds(Left) ->
    Timers = [erlang:send_after(60000, self(), fire) || _ <- lists:seq(1, 1000)],
    [true = is_integer(erlang:cancel_timer(Timer)) || Timer <- Timers],
    timer_rounds(Left - 1).

memory(Scale) -> memory(Scale, fun(_) -> ok end).

memoryAfterMessage(Scale) ->
    memory(Scale, fun(Pids) ->
        [Pid ! {touch, self()} || Pid <- Pids],
        [receive touched -> ok end || _ <- Pids]
    end).

memory(Scale, Then) ->
    N = scaled(100000, Scale, 1000),
    erlang:garbage_collect(),
    Before = erlang:memory(total),
    Pids = [spawn(fun() -> idler(Number) end) || Number <- lists:seq(1, N)],
    Then(Pids),
    timer:sleep(200),
    erlang:garbage_collect(),
    %% The list of pids is the caller's: two words each.
    Bytes = (erlang:memory(total) - Before) / N - 16,
    [exit(Pid, kill) || Pid <- Pids],
    {N, length(Pids), heap_bytes, Bytes}.

idler(Touched) ->
    receive {touch, From} -> From ! touched, idler(Touched + 1) end.
