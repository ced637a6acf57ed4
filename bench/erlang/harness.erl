%% Repeats one benchmark and prints a line per measured run, as the runner's protocol asks.
-module(harness).
-export([main/1, scaled/2, scaled/3]).

main([ModuleText, BenchmarkText, ScaleText, WarmupsText, IterationsText, BudgetText]) ->
    Module = list_to_atom(ModuleText),
    Benchmark = list_to_atom(BenchmarkText),
    Scale = number(ScaleText),
    {module, Module} = code:ensure_loaded(Module),
    Started = now_ms(),
    Budget = list_to_integer(BudgetText),
    repeat(list_to_integer(WarmupsText), Started + Budget div 2, fun() -> run(Module, Benchmark, Scale) end),
    repeat(list_to_integer(IterationsText), Started + Budget, fun() -> print(run(Module, Benchmark, Scale)) end),
    io:format("@process {\"rssBytes\":~p}~n", [rss()]),
    halt(0).

repeat(0, _, _) -> ok;
repeat(Left, Until, Run) ->
    Run(),
    case now_ms() > Until of
        true -> ok;
        false -> repeat(Left - 1, Until, Run)
    end.

%% Every run in a process of its own, so that its heap starts small and its mailbox empty.
run(Module, Benchmark, Scale) ->
    Parent = self(),
    {Pid, Monitor} = spawn_monitor(fun() ->
        erlang:garbage_collect(),
        Started = erlang:monotonic_time(nanosecond),
        Result = Module:Benchmark(Scale),
        Parent ! {result, self(), Result, erlang:monotonic_time(nanosecond) - Started}
    end),
    receive
        {result, Pid, Result, Nanoseconds} ->
            receive {'DOWN', Monitor, process, Pid, _} -> ok end,
            {Result, max(Nanoseconds, 1) / 1.0e9};
        {'DOWN', Monitor, process, Pid, Reason} ->
            io:format("@error ~s~n", [quoted(io_lib:format("~p", [Reason]))]),
            halt(1)
    end.

print({{Attempted, Completed}, Seconds}) ->
    io:format("@sample {\"attempted\":~p,\"completed\":~p,\"seconds\":~.9f}~n", [Attempted, Completed, Seconds]);
print({{Attempted, Completed, oracle, Holds}, Seconds}) ->
    io:format("@sample {\"attempted\":~p,\"completed\":~p,\"seconds\":~.9f,\"oracle\":~p}~n",
              [Attempted, Completed, Seconds, Holds]);
print({{Attempted, Completed, heap_bytes, Bytes}, Seconds}) ->
    io:format("@sample {\"attempted\":~p,\"completed\":~p,\"seconds\":~.9f,\"heapBytes\":~p}~n",
              [Attempted, Completed, Seconds, Bytes]).

quoted(Text) ->
    [$", [escaped(Character) || Character <- lists:sublist(lists:flatten(Text), 600)], $"].

escaped($") -> "\\\"";
escaped($\\) -> "\\\\";
escaped($\n) -> " ";
escaped(Character) -> Character.

number(Text) ->
    try list_to_float(Text) catch error:badarg -> float(list_to_integer(Text)) end.

now_ms() -> erlang:monotonic_time(millisecond).

rss() ->
    case file:read_file("/proc/self/statm") of
        {ok, Text} -> [_, Pages | _] = binary:split(Text, <<" ">>, [global]), binary_to_integer(Pages) * 4096;
        {error, _} -> 0
    end.

scaled(Size, Scale) -> scaled(Size, Scale, 1).
scaled(Size, Scale, Least) -> max(Least, round(Size * Scale)).
