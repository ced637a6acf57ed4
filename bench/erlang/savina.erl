%% Savina's micro and concurrency groups in plain Erlang processes, message for message the same protocols as the
%% workloads in TypeScript.
-module(savina).
-export([pingpong/1, count/1, fjthrput/1, fjcreate/1, threadring/1, chameneos/1, big/1, fib/1,
         concdict/1, concsll/1, bndbuffer/1, philosopher/1, barber/1, cigsmok/1, logmap/1, banking/1]).
-import(harness, [scaled/2, scaled/3]).

%% ---- micro ----

pingpong(Scale) ->
    N = scaled(40000, Scale),
    Me = self(),
    Ponger = spawn(fun() -> ponger(0) end),
    spawn(fun() -> pinger(Ponger, N), Ponger ! {'end', Me} end),
    receive {pings, Pings} -> {2 * N, 2 * Pings, oracle, Pings =:= N} end.

pinger(_, 0) -> ok;
pinger(Ponger, N) -> Ponger ! {ping, self()}, receive pong -> pinger(Ponger, N - 1) end.

ponger(Pings) ->
    receive
        {ping, From} -> From ! pong, ponger(Pings + 1);
        {'end', To} -> To ! {pings, Pings}
    end.

count(Scale) ->
    N = scaled(1000000, Scale),
    Me = self(),
    Counter = spawn(fun() -> counter(0) end),
    spawn(fun() -> flood(Counter, N), Counter ! {report, Me} end),
    receive {total, Total} -> {N, Total, oracle, Total =:= N} end.

counter(Total) ->
    receive
        {add, By} -> counter(Total + By);
        {report, To} -> To ! {total, Total}
    end.

flood(_, 0) -> ok;
flood(Counter, N) -> Counter ! {add, 1}, flood(Counter, N - 1).

fjthrput(Scale) ->
    Each = min(10000, scaled(10000, Scale)),
    Rounds = scaled(1, Scale),
    Done = lists:sum([fork(60, Each) || _ <- lists:seq(1, Rounds)]),
    {60 * Each * Rounds, Done, oracle, Done =:= 60 * Each * Rounds}.

fork(Receivers, Each) ->
    Me = self(),
    Targets = [spawn(fun() -> receiver(0, Each, Me) end) || _ <- lists:seq(1, Receivers)],
    spawn(fun() -> fork_send(Targets, Each) end),
    lists:sum([receive {got, Got} -> Got end || _ <- Targets]).

receiver(Each, Each, Me) -> Me ! {got, Each};
receiver(Got, Each, Me) -> receive {add, By} -> receiver(Got + By, Each, Me) end.

fork_send(_, 0) -> ok;
fork_send(Targets, Left) -> [Target ! {add, 1} || Target <- Targets], fork_send(Targets, Left - 1).

fjcreate(Scale) ->
    N = scaled(40000, Scale),
    Me = self(),
    process_flag(message_queue_data, off_heap),
    [spawn(fun() -> receive {touch, _} -> Me ! touched end end) ! {touch, 1} || _ <- lists:seq(1, N)],
    Touched = length([receive touched -> ok end || _ <- lists:seq(1, N)]),
    {N, Touched, oracle, Touched =:= N}.

threadring(Scale) ->
    Hops = scaled(100000, Scale, 100),
    Me = self(),
    Members = [spawn(fun() -> receive {link, Next} -> member(Next, Me, 0) end end) || _ <- lists:seq(1, 100)],
    link_all(Members, hd(Members)),
    hd(Members) ! {token, Hops},
    receive done -> ok end,
    [Member ! {'end', Me} || Member <- Members],
    Counted = lists:sum([receive {hops, Count} -> Count end || _ <- Members]),
    {Hops, Counted, oracle, Counted =:= Hops}.

link_all([Last], First) -> Last ! {link, First};
link_all([Member, Next | Rest], First) -> Member ! {link, Next}, link_all([Next | Rest], First).

member(Next, Me, Hops) ->
    receive
        {token, Left} when Left > 1 -> Next ! {token, Left - 1}, member(Next, Me, Hops + 1);
        {token, _} -> Me ! done, member(Next, Me, Hops + 1);
        {'end', To} -> To ! {hops, Hops}
    end.

chameneos(Scale) ->
    Meetings = scaled(200000, Scale),
    Me = self(),
    Mall = spawn(fun() -> mall(Meetings, none, 0, 0, Me) end),
    [spawn(fun() -> Mall ! {arrive, self(), Index rem 3}, chameneo(Mall, Index rem 3, 0) end)
     || Index <- lists:seq(0, 99)],
    receive {counted, Counted} -> {Meetings, Counted div 2, oracle, Counted =:= 2 * Meetings} end.

mall(_, _, 100, Counted, Me) -> Me ! {counted, Counted};
mall(Left, Waiting, Gone, Counted, Me) ->
    receive
        {arrive, From, _} when Left =:= 0 -> From ! close, mall(Left, Waiting, Gone, Counted, Me);
        {arrive, From, _} when Waiting =:= none -> mall(Left, From, Gone, Counted, Me);
        {arrive, From, Colour} -> Waiting ! {meet, From, Colour}, mall(Left - 1, none, Gone, Counted, Me);
        {gone, Met} -> mall(Left, Waiting, Gone + 1, Counted + Met, Me)
    end.

chameneo(Mall, Colour, Met) ->
    receive
        {meet, From, Other} ->
            New = mix(Colour, Other),
            From ! {change, New},
            Mall ! {arrive, self(), New},
            chameneo(Mall, New, Met + 1);
        {change, New} -> Mall ! {arrive, self(), New}, chameneo(Mall, New, Met + 1);
        close -> Mall ! {gone, Met}
    end.

mix(Same, Same) -> Same;
mix(One, Other) -> 3 - One - Other.

big(Scale) ->
    Pings = scaled(20000, Scale),
    Me = self(),
    Members = [spawn(fun() -> big_start(Index, Pings, Me) end) || Index <- lists:seq(1, 120)],
    Peers = list_to_tuple(Members),
    [Member ! {start, Peers} || Member <- Members],
    {Pongs, Wrong} = lists:foldl(
        fun(_, {P, W}) -> receive {finished, P1, W1} -> {P + P1, W + W1} end end, {0, 0}, Members),
    [Member ! stop || Member <- Members],
    {240 * Pings, 2 * Pongs, oracle, Wrong =:= 0}.

big_start(Index, Pings, Me) ->
    receive {start, Peers} -> big_next(Index, Peers, Pings, 0, 0, seed(Index), Me) end.

big_next(Index, Peers, Left, Pongs, Wrong, Random, Me) ->
    {Expected, Next} = below(120, Random),
    element(Expected + 1, Peers) ! {ping, self()},
    big_wait(Index, Peers, Left - 1, Expected + 1, Pongs, Wrong, Next, Me).

big_wait(Index, Peers, Left, Expected, Pongs, Wrong, Random, Me) ->
    receive
        {ping, From} -> From ! {pong, Index}, big_wait(Index, Peers, Left, Expected, Pongs, Wrong, Random, Me);
        {pong, From} ->
            Now = case From of Expected -> Wrong; _ -> Wrong + 1 end,
            case Left of
                0 -> Me ! {finished, Pongs + 1, Now}, big_serve(Index);
                _ -> big_next(Index, Peers, Left, Pongs + 1, Now, Random, Me)
            end
    end.

big_serve(Index) ->
    receive {ping, From} -> From ! {pong, Index}, big_serve(Index); stop -> ok end.

fib(Scale) ->
    N = max(3, round(25 + math:log(Scale) / math:log((1 + math:sqrt(5)) / 2))),
    Me = self(),
    Expected = fib_number(N),
    spawn(fun() -> fib_actor(N, Me) end),
    receive {answer, Value, Actors} -> {2 * Expected - 1, Actors, oracle, Value =:= Expected} end.

fib_actor(N, Parent) when N =< 2 -> Parent ! {answer, 1, 1};
fib_actor(N, Parent) ->
    Me = self(),
    spawn(fun() -> fib_actor(N - 1, Me) end),
    spawn(fun() -> fib_actor(N - 2, Me) end),
    receive {answer, A, CountA} -> receive {answer, B, CountB} -> Parent ! {answer, A + B, CountA + CountB + 1} end end.

fib_number(N) -> fib_number(N, 0, 1).
fib_number(1, _, Current) -> Current;
fib_number(N, Last, Current) -> fib_number(N - 1, Current, Last + Current).

%% ---- concurrency ----

concdict(Scale) ->
    Requests = scaled(10000, Scale),
    Me = self(),
    Dictionary = spawn(fun() -> dictionary(#{}, 0) end),
    [spawn(fun() -> dict_worker(Dictionary, Requests, seed(Seed), 0, Me) end) || Seed <- lists:seq(1, 20)],
    Wrong = lists:sum([receive {finished, W} -> W end || _ <- lists:seq(1, 20)]),
    Dictionary ! {stop, Me},
    receive {handled, Handled} -> {20 * Requests, Handled, oracle, Wrong =:= 0} end.

dictionary(Entries, Handled) ->
    receive
        {write, From, Key, Value} -> From ! {result, Value}, dictionary(Entries#{Key => Value}, Handled + 1);
        {read, From, Key} -> From ! {result, maps:get(Key, Entries, -1)}, dictionary(Entries, Handled + 1);
        {stop, To} -> To ! {handled, Handled}
    end.

dict_worker(_, 0, _, Wrong, Me) -> Me ! {finished, Wrong};
dict_worker(Dictionary, Left, Random, Wrong, Me) ->
    {Key, R1} = below(524287, Random),
    {Dice, R2} = below(100, R1),
    case Dice < 10 of
        true -> Dictionary ! {write, self(), Key, 2 * Key};
        false -> Dictionary ! {read, self(), Key}
    end,
    receive
        {result, Value} when Value =:= -1; Value =:= 2 * Key -> dict_worker(Dictionary, Left - 1, R2, Wrong, Me);
        {result, _} -> dict_worker(Dictionary, Left - 1, R2, Wrong + 1, Me)
    end.

%% A sorted list: what is walked past must be copied on insertion, as immutable lists are.
concsll(Scale) ->
    Requests = scaled(8000, Scale),
    Me = self(),
    List = spawn(fun() -> sorted_list([], 0, 0) end),
    [spawn(fun() -> list_worker(List, Requests, seed(Seed), 0, Me) end) || Seed <- lists:seq(1, 20)],
    Added = lists:sum([receive {finished, A} -> A end || _ <- lists:seq(1, 20)]),
    List ! {stop, Me},
    receive {handled, Handled, Values} ->
        {20 * Requests, Handled, oracle, length(Values) =:= Added andalso Values =:= lists:sort(Values)}
    end.

sorted_list(Values, Size, Handled) ->
    receive
        {add, From, Value} -> From ! {result, Value}, sorted_list(insert(Value, Values), Size + 1, Handled + 1);
        {has, From, Value} -> From ! {result, has(Value, Values)}, sorted_list(Values, Size, Handled + 1);
        {size, From, _} -> From ! {result, Size}, sorted_list(Values, Size, Handled + 1);
        {stop, To} -> To ! {handled, Handled, Values}
    end.

insert(Value, [First | Rest]) when First < Value -> [First | insert(Value, Rest)];
insert(Value, Rest) -> [Value | Rest].

has(Value, [First | Rest]) when First < Value -> has(Value, Rest);
has(Value, [Value | _]) -> true;
has(_, _) -> false.

list_worker(_, 0, _, Added, Me) -> Me ! {finished, Added};
list_worker(List, Left, Random, Added, Me) ->
    {Dice, R1} = below(100, Random),
    {Value, R2} = below(524287, R1),
    {Request, More} = if Dice < 1 -> {size, 0}; Dice < 11 -> {add, 1}; true -> {has, 0} end,
    List ! {Request, self(), Value},
    receive {result, _} -> list_worker(List, Left - 1, R2, Added + More, Me) end.

bndbuffer(Scale) ->
    Each = scaled(1000, Scale),
    Me = self(),
    Manager = spawn(fun() -> buffer(queue:new(), 0, [], [], 0, 0, Me) end),
    [spawn(fun() -> Manager ! {ready, self()}, consumer(Manager, seed(1000 + Index), 0) end)
     || Index <- lists:seq(1, 40)],
    [spawn(fun() -> producer(Manager, Each, seed(Index)) end) || Index <- lists:seq(1, 40)],
    receive {drained, Most, Idle} ->
        [Consumer ! {stop, Me} || Consumer <- Idle],
        Consumed = lists:sum([receive {consumed, Count} -> Count end || _ <- Idle]),
        {40 * Each, Consumed, oracle, Most =< 50}
    end.

buffer(_, 0, Idle, _, 40, Most, Me) when length(Idle) =:= 40 -> Me ! {drained, Most, Idle};
buffer(Items, Count, Idle, Blocked, Exited, Most, Me) ->
    receive
        {item, From, Value} ->
            {Items1, Count1, Idle1} = case Idle of
                [Consumer | Rest] -> Consumer ! {consume, Value}, {Items, Count, Rest};
                [] -> {queue:in(Value, Items), Count + 1, []}
            end,
            Blocked1 = case Count1 >= 10 of
                true -> [From | Blocked];
                false -> From ! produce, Blocked
            end,
            buffer(Items1, Count1, Idle1, Blocked1, Exited, max(Most, Count1), Me);
        {ready, Consumer} when Count =:= 0 -> buffer(Items, 0, [Consumer | Idle], Blocked, Exited, Most, Me);
        {ready, Consumer} ->
            {{value, Value}, Items1} = queue:out(Items),
            Consumer ! {consume, Value},
            Blocked1 = case Blocked of [Next | Rest] -> Next ! produce, Rest; [] -> [] end,
            buffer(Items1, Count - 1, Idle, Blocked1, Exited, Most, Me);
        exited -> buffer(Items, Count, Idle, Blocked, Exited + 1, Most, Me)
    end.

producer(Manager, 0, _) -> Manager ! exited;
producer(Manager, Left, Random) ->
    {Value, Next} = busy(25, Random),
    Manager ! {item, self(), Value},
    receive produce -> producer(Manager, Left - 1, Next) end.

consumer(Manager, Random, Count) ->
    receive
        {consume, _} -> {_, Next} = busy(25, Random), Manager ! {ready, self()}, consumer(Manager, Next, Count + 1);
        {stop, To} -> To ! {consumed, Count}
    end.

philosopher(Scale) ->
    Meals = scaled(10000, Scale),
    Me = self(),
    Arbiter = spawn(fun() -> arbiter(#{}, 0) end),
    [spawn(fun() -> philosopher(Arbiter, Index, Meals, Me) end) || Index <- lists:seq(0, 19)],
    Eaten = lists:sum([receive {eaten, Count} -> Count end || _ <- lists:seq(1, 20)]),
    Arbiter ! {stop, Me},
    receive {clashes, Clashes} -> {20 * Meals, Eaten, oracle, Clashes =:= 0} end.

arbiter(Forks, Clashes) ->
    receive
        {hungry, From, Index} ->
            Right = (Index + 1) rem 20,
            case Forks of
                #{Index := _} -> From ! denied, arbiter(Forks, Clashes);
                #{Right := _} -> From ! denied, arbiter(Forks, Clashes);
                _ -> From ! eat, arbiter(Forks#{Index => true, Right => true}, Clashes)
            end;
        {full, Index} ->
            Right = (Index + 1) rem 20,
            Held = maps:is_key(Index, Forks) andalso maps:is_key(Right, Forks),
            arbiter(maps:without([Index, Right], Forks), case Held of true -> Clashes; false -> Clashes + 1 end);
        {stop, To} -> To ! {clashes, Clashes}
    end.

philosopher(Arbiter, Index, Meals, Me) -> philosopher(Arbiter, Index, Meals, Meals, Me).
philosopher(_, _, Meals, 0, Me) -> Me ! {eaten, Meals};
philosopher(Arbiter, Index, Meals, Left, Me) ->
    Arbiter ! {hungry, self(), Index},
    receive
        denied -> philosopher(Arbiter, Index, Meals, Left, Me);
        eat -> Arbiter ! {full, Index}, philosopher(Arbiter, Index, Meals, Left - 1, Me)
    end.

barber(Scale) ->
    Haircuts = scaled(5000, Scale),
    Me = self(),
    Room = spawn(fun() -> room_open() end),
    Barber = spawn(fun() -> barber_loop(Room, seed(7)) end),
    Room ! {open, Barber},
    Street = spawn(fun() -> street(Room, queue:new(), seed(3), false) end),
    [Street ! {returned, spawn(fun() -> customer(Street, Me) end)} || _ <- lists:seq(1, Haircuts)],
    Cuts = length([receive cut_done -> ok end || _ <- lists:seq(1, Haircuts)]),
    Room ! {stop, Me},
    Barber ! stop,
    Street ! stop,
    receive {most, Most} -> {Haircuts, Cuts, oracle, Most =< 1000} end.

room_open() -> receive {open, Barber} -> room(Barber, queue:new(), 0, true, 0) end.

room(Barber, Chairs, Count, Asleep, Most) ->
    receive
        {enter, Customer} when Count =:= 1000 -> Customer ! full, room(Barber, Chairs, Count, Asleep, Most);
        {enter, Customer} ->
            case Asleep of true -> self() ! free; false -> ok end,
            room(Barber, queue:in(Customer, Chairs), Count + 1, false, max(Most, Count + 1));
        free when Count =:= 0 -> room(Barber, Chairs, 0, true, Most);
        free ->
            {{value, Customer}, Rest} = queue:out(Chairs),
            Barber ! {cut, Customer},
            room(Barber, Rest, Count - 1, Asleep, Most);
        {stop, To} -> To ! {most, Most}
    end.

barber_loop(Room, Random) ->
    receive
        {cut, Customer} ->
            Customer ! start,
            {Steps, R1} = below(1000, Random),
            {_, R2} = busy(Steps + 10, R1),
            Customer ! finish,
            Room ! free,
            barber_loop(Room, R2);
        stop -> ok
    end.

customer(Street, Me) ->
    receive
        full -> Street ! {returned, self()}, customer(Street, Me);
        start -> receive finish -> Me ! cut_done end
    end.

street(Room, Line, Random, Walking) ->
    receive
        {returned, Customer} ->
            case Walking of true -> ok; false -> self() ! arrive end,
            street(Room, queue:in(Customer, Line), Random, true);
        arrive ->
            case queue:out(Line) of
                {empty, _} -> street(Room, Line, Random, false);
                {{value, Customer}, Rest} ->
                    Room ! {enter, Customer},
                    {Steps, R1} = below(1000, Random),
                    {_, R2} = busy(Steps + 10, R1),
                    self() ! arrive,
                    street(Room, Rest, R2, true)
            end;
        stop -> ok
    end.

cigsmok(Scale) ->
    Rounds = scaled(1000, Scale),
    Me = self(),
    Smokers = [spawn(fun() -> smoker(seed(Index), 0, Me) end) || Index <- lists:seq(1, 200)],
    spawn(fun() -> smokers_arbiter(list_to_tuple(Smokers), Rounds, seed(11)) end),
    Smoked = lists:sum([receive {smoked, Count} -> Count end || _ <- Smokers]),
    {Rounds, Smoked, oracle, Smoked =:= Rounds}.

smokers_arbiter(Smokers, 0, _) -> [Smoker ! 'end' || Smoker <- tuple_to_list(Smokers)];
smokers_arbiter(Smokers, Left, Random) ->
    {Chosen, R1} = below(200, Random),
    {Steps, R2} = below(1000, R1),
    element(Chosen + 1, Smokers) ! {smoke, self(), Steps + 10},
    receive started -> smokers_arbiter(Smokers, Left - 1, R2) end.

smoker(Random, Count, Me) ->
    receive
        {smoke, Arbiter, Steps} ->
            Arbiter ! started,
            {_, Next} = busy(Steps, Random),
            smoker(Next, Count + 1, Me);
        'end' -> Me ! {smoked, Count}
    end.

logmap(Scale) ->
    Terms = scaled(25000, Scale),
    Me = self(),
    Computers = [spawn(fun() -> rate_computer(3.46 + Index * 0.0025, 0) end) || Index <- lists:seq(0, 9)],
    Workers = [spawn(fun() -> series(Computer, Start) end)
               || {Computer, Start} <- lists:zip(Computers, [(Index + 1) * 0.0025 || Index <- lists:seq(0, 9)])],
    log_send(Workers, Terms),
    [Worker ! {report, Me} || Worker <- Workers],
    Last = [receive {term, Worker, Term} -> Term end || Worker <- Workers],
    [Computer ! {stop, Me} || Computer <- Computers],
    Computed = lists:sum([receive {computed, Count} -> Count end || _ <- Computers]),
    Expected = [log_alone(3.46 + Index * 0.0025, (Index + 1) * 0.0025, Terms) || Index <- lists:seq(0, 9)],
    {10 * Terms, Computed, oracle, Last =:= Expected}.

log_send(_, 0) -> ok;
log_send(Workers, Left) -> [Worker ! next || Worker <- Workers], log_send(Workers, Left - 1).

log_alone(_, Term, 0) -> Term;
log_alone(Rate, Term, Left) -> log_alone(Rate, Rate * Term * (1 - Term), Left - 1).

rate_computer(Rate, Count) ->
    receive
        {compute, From, Term} -> From ! {result, Rate * Term * (1 - Term)}, rate_computer(Rate, Count + 1);
        {stop, To} -> To ! {computed, Count}
    end.

%% Terms asked for are counted, not left in the mailbox: a selective receive would walk over all of them each time.
series(Computer, Term) -> series(Computer, Term, 0, false, none).

series(_, Term, 0, false, To) when To =/= none -> To ! {term, self(), Term};
series(Computer, Term, Queued, false, To) when Queued > 0 ->
    Computer ! {compute, self(), Term},
    series(Computer, Term, Queued - 1, true, To);
series(Computer, Term, Queued, Waiting, To) ->
    receive
        next -> series(Computer, Term, Queued + 1, Waiting, To);
        {result, New} -> series(Computer, New, Queued, false, To);
        {report, From} -> series(Computer, Term, Queued, Waiting, From)
    end.

banking(Scale) ->
    Transactions = scaled(50000, Scale),
    Me = self(),
    Opening = 9007199254740991 div 4000,
    Accounts = list_to_tuple([spawn(fun() -> account(Opening) end) || _ <- lists:seq(1, 1000)]),
    Teller = spawn(fun() -> receive begin_transfers -> teller(Accounts, Transactions, seed(123456), Me) end end),
    Teller ! begin_transfers,
    receive {replied, Replies} ->
        [Account ! {close, Me} || Account <- tuple_to_list(Accounts)],
        Total = lists:sum([receive {balance, Balance} -> Balance end || _ <- lists:seq(1, 1000)]),
        {Transactions, Replies, oracle, Total =:= 1000 * Opening}
    end.

teller(Accounts, Transactions, Random, Me) ->
    transfers(Accounts, Transactions, Random),
    Me ! {replied, length([receive replied -> ok end || _ <- lists:seq(1, Transactions)])}.

transfers(_, 0, _) -> ok;
transfers(Accounts, Left, Random) ->
    {From, R1} = below(800, Random),
    {Ahead, R2} = below(999 - From, R1),
    {Cents, R3} = below(1000, R2),
    element(From + 1, Accounts) ! {transfer, self(), element(From + Ahead + 2, Accounts), Cents + 1},
    transfers(Accounts, Left - 1, R3).

account(Balance) -> account(Balance, none, queue:new()).

account(Balance, Pending, Queue) ->
    receive
        {transfer, Teller, To, Cents} when Pending =:= none ->
            To ! {deposit, self(), Cents},
            account(Balance - Cents, Teller, Queue);
        {transfer, Teller, To, Cents} -> account(Balance, Pending, queue:in({Teller, To, Cents}, Queue));
        {deposit, From, Cents} -> From ! deposited, account(Balance + Cents, Pending, Queue);
        deposited ->
            Pending ! replied,
            case queue:out(Queue) of
                {empty, _} -> account(Balance, none, Queue);
                {{value, {Teller, To, Cents}}, Rest} ->
                    To ! {deposit, self(), Cents},
                    account(Balance - Cents, Teller, Rest)
            end;
        {close, To} -> To ! {balance, Balance}
    end.

%% ---- chance and work ----

%% A 32-bit xorshift: small integers only, no process dictionary.
seed(Number) -> (Number * 2654435761) band 16#ffffffff bor 1.

next(X0) ->
    X1 = (X0 bxor (X0 bsl 13)) band 16#ffffffff,
    X2 = X1 bxor (X1 bsr 17),
    (X2 bxor (X2 bsl 5)) band 16#ffffffff.

below(Bound, Random) -> Next = next(Random), {Next rem Bound, Next}.

busy(Steps, Random) -> busy(Steps, Random, 0.0).
busy(0, Random, Sum) -> {Sum, Random};
busy(Steps, Random, Sum) -> Next = next(Random), busy(Steps - 1, Next, Sum + math:log(Next / 4294967296.0 + 0.01)).
