// Repeats one benchmark and prints a line per measured run, as the runner's protocol asks.
package main

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

var benchmarks = map[string]func(scale float64) (attempted, completed int){
	"counting":      counting,
	"pingpong":      pingpong,
	"ring":          ring,
	"forkjoin":      forkjoin,
	"create":        create,
	"ask":           ask,
	"askConcurrent": askConcurrent,
	"timers":        timers,
}

func main() {
	// One thread for goroutines, because the other systems have one.
	runtime.GOMAXPROCS(1)
	run, known := benchmarks[os.Args[1]]
	scale, err := strconv.ParseFloat(os.Args[2], 64)
	if !known || err != nil {
		fmt.Printf("@error %q\n", "usage: core_bench BENCHMARK SCALE WARMUPS ITERATIONS BUDGET_MS")
		os.Exit(1)
	}
	warmups, iterations, budgetMs := number(3), number(4), number(5)
	started := time.Now()
	repeat(warmups, started.Add(time.Duration(budgetMs)*time.Millisecond/2), func() { run(scale) })
	repeat(iterations, started.Add(time.Duration(budgetMs)*time.Millisecond), func() {
		runtime.GC()
		begun := time.Now()
		attempted, completed := run(scale)
		seconds := time.Since(begun).Seconds()
		fmt.Printf("@sample {\"attempted\":%d,\"completed\":%d,\"seconds\":%.9f}\n", attempted, completed, seconds)
	})
	fmt.Printf("@process {\"rssBytes\":%d}\n", rss())
}

func repeat(times int, until time.Time, run func()) {
	for count := 0; count < times; count++ {
		run()
		if time.Now().After(until) {
			return
		}
	}
}

func number(at int) int {
	value, err := strconv.Atoi(os.Args[at])
	if err != nil {
		panic(err)
	}
	return value
}

func rss() int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		return 0
	}
	return pages * 4096
}

func scaled(size int, scale float64, least int) int {
	return max(least, int(math.Round(float64(size)*scale)))
}

func min(a, b int) int {
	if a < b {
		return a
	}
	return b
}

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}
