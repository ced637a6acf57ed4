%% The cost of a failure: a parent that monitors its children and starts each anew.
-module(fairness_bench).
-export([restartStorm/1]).
-import(harness, [scaled/2]).

restartStorm(Scale) ->
    Each = scaled(500, Scale),
    Left = maps:from_list([begin {Pid, _} = start(), Pid ! boom, {Pid, Each} end || _ <- lists:seq(1, 100)]),
    {100 * Each, storm(Left, 0)}.

storm(Left, Restarts) when map_size(Left) =:= 0 -> Restarts;
storm(Left, Restarts) ->
    receive
        {'DOWN', _, process, Pid, boom} ->
            {Count, Rest} = maps:take(Pid, Left),
            {New, _} = start(),
            case Count of
                1 -> exit(New, kill), storm(Rest, Restarts + 1);
                _ -> New ! boom, storm(Rest#{New => Count - 1}, Restarts + 1)
            end;
        {'DOWN', _, process, _, killed} -> storm(Left, Restarts)
    end.

start() -> spawn_monitor(fun() -> receive boom -> exit(boom) end end).
