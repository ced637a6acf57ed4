//! Repeats one benchmark and prints a line per measured run, as the runner's protocol asks.
mod core_bench;

use std::{
    env, fs, process,
    time::{Duration, Instant},
};

fn main() {
    let args: Vec<String> = env::args().collect();
    let number = |at: usize| args.get(at).and_then(|text| text.parse::<f64>().ok());
    let (Some(name), Some(scale), Some(warmups), Some(iterations), Some(budget_ms)) =
        (args.get(1), number(2), number(3), number(4), number(5))
    else {
        println!("@error \"usage: core_bench BENCHMARK SCALE WARMUPS ITERATIONS BUDGET_MS\"");
        process::exit(1);
    };
    let started = Instant::now();
    let budget = Duration::from_secs_f64(budget_ms / 1_000.0);
    repeat(warmups as usize, started + budget / 2, || {
        run(name, scale);
    });
    repeat(iterations as usize, started + budget, || {
        let begun = Instant::now();
        let (attempted, completed) = run(name, scale);
        let seconds = begun.elapsed().as_secs_f64();
        println!("@sample {{\"attempted\":{attempted},\"completed\":{completed},\"seconds\":{seconds:.9}}}");
    });
    println!("@process {{\"rssBytes\":{}}}", rss());
}

/// Every run has a runtime of its own, with one thread because the other systems have one.
fn run(name: &str, scale: f64) -> (usize, usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        match name {
            "counting" => core_bench::counting(scale).await,
            "pingpong" => core_bench::pingpong(scale).await,
            "ring" => core_bench::ring(scale).await,
            "forkjoin" => core_bench::forkjoin(scale).await,
            "create" => core_bench::create(scale).await,
            "ask" => core_bench::ask(scale).await,
            "askConcurrent" => core_bench::ask_concurrent(scale).await,
            _ => panic!("no benchmark {name}"),
        }
    })
}

fn repeat(times: usize, until: Instant, mut run: impl FnMut()) {
    for _ in 0..times {
        run();
        if Instant::now() > until {
            return;
        }
    }
}

fn rss() -> usize {
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<usize>().ok())
        .unwrap_or(0)
        * 4_096
}
