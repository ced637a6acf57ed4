//! The core suite in tasks and `tokio::sync::mpsc`, message for message the same work. Channels are unbounded: the
//! bounded ones are slower, and a sender of theirs has to await.
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

const DEADLINE: Duration = Duration::from_secs(5);

pub fn scaled(size: usize, scale: f64, least: usize) -> usize {
    least.max((size as f64 * scale).round() as usize)
}

enum CounterMessage {
    Add(usize),
    Report(oneshot::Sender<usize>),
}

pub async fn counting(scale: f64) -> (usize, usize) {
    let messages = scaled(1_000_000, scale, 1);
    let (counter, mut inbox) = mpsc::unbounded_channel();
    let (done, total) = oneshot::channel();
    tokio::spawn(async move {
        let mut total = 0;
        while let Some(message) = inbox.recv().await {
            match message {
                CounterMessage::Add(by) => total += by,
                CounterMessage::Report(to) => {
                    let _ = to.send(total);
                    return;
                }
            }
        }
    });
    tokio::spawn(async move {
        for _ in 0..messages {
            let _ = counter.send(CounterMessage::Add(1));
        }
        let _ = counter.send(CounterMessage::Report(done));
    });
    (messages, total.await.unwrap_or(0))
}

enum PingMessage {
    Ping(mpsc::UnboundedSender<()>),
    End(oneshot::Sender<usize>),
}

pub async fn pingpong(scale: f64) -> (usize, usize) {
    let exchanges = scaled(1_000_000, scale, 1);
    let (ponger, mut pings) = mpsc::unbounded_channel();
    let (own, mut pongs) = mpsc::unbounded_channel();
    let (done, received) = oneshot::channel();
    tokio::spawn(async move {
        let mut received = 0;
        while let Some(message) = pings.recv().await {
            match message {
                PingMessage::Ping(from) => {
                    received += 1;
                    let _ = from.send(());
                }
                PingMessage::End(to) => {
                    let _ = to.send(received);
                    return;
                }
            }
        }
    });
    tokio::spawn(async move {
        for _ in 0..exchanges {
            let _ = ponger.send(PingMessage::Ping(own.clone()));
            let _ = pongs.recv().await;
        }
        let _ = ponger.send(PingMessage::End(done));
    });
    (2 * exchanges, 2 * received.await.unwrap_or(0))
}

enum RingMessage {
    Token(usize),
    End(oneshot::Sender<usize>),
}

pub async fn ring(scale: f64) -> (usize, usize) {
    const SIZE: usize = 100;
    let hops = scaled(1_000_000, scale, SIZE);
    let (members, inboxes): (Vec<_>, Vec<_>) = (0..SIZE).map(|_| mpsc::unbounded_channel()).unzip();
    let (done, mut ended) = mpsc::unbounded_channel::<()>();
    for (index, inbox) in inboxes.into_iter().enumerate() {
        tokio::spawn(ring_member(
            inbox,
            members[(index + 1) % SIZE].clone(),
            done.clone(),
        ));
    }
    let _ = members[0].send(RingMessage::Token(hops));
    let _ = ended.recv().await;
    let mut counted = 0;
    for member in &members {
        let (to, count) = oneshot::channel();
        let _ = member.send(RingMessage::End(to));
        counted += count.await.unwrap_or(0);
    }
    (hops, counted)
}

async fn ring_member(
    mut inbox: mpsc::UnboundedReceiver<RingMessage>,
    next: mpsc::UnboundedSender<RingMessage>,
    done: mpsc::UnboundedSender<()>,
) {
    let mut hops = 0;
    while let Some(message) = inbox.recv().await {
        match message {
            RingMessage::Token(left) => {
                hops += 1;
                if left > 1 {
                    let _ = next.send(RingMessage::Token(left - 1));
                } else {
                    let _ = done.send(());
                }
            }
            RingMessage::End(to) => {
                let _ = to.send(hops);
                return;
            }
        }
    }
}

pub async fn forkjoin(scale: f64) -> (usize, usize) {
    const RECEIVERS: usize = 60;
    let each = scaled(100_000, scale, 1).min(100_000);
    let rounds = scaled(1, scale, 1);
    let mut completed = 0;
    for _ in 0..rounds {
        completed += fork_once(RECEIVERS, each).await;
    }
    (RECEIVERS * each * rounds, completed)
}

async fn fork_once(receivers: usize, each: usize) -> usize {
    let mut targets = Vec::with_capacity(receivers);
    let mut counts = Vec::with_capacity(receivers);
    for _ in 0..receivers {
        let (target, mut inbox) = mpsc::unbounded_channel::<usize>();
        let (to, count) = oneshot::channel();
        targets.push(target);
        counts.push(count);
        tokio::spawn(async move {
            let mut got = 0;
            while got < each {
                got += inbox.recv().await.unwrap_or(0);
            }
            let _ = to.send(got);
        });
    }
    tokio::spawn(async move {
        for _ in 0..each {
            for target in &targets {
                let _ = target.send(1);
            }
        }
    });
    let mut total = 0;
    for count in counts {
        total += count.await.unwrap_or(0);
    }
    total
}

pub async fn create(scale: f64) -> (usize, usize) {
    let actors = scaled(100_000, scale, 1);
    let (done, mut touched) = mpsc::unbounded_channel::<()>();
    tokio::spawn(async move {
        for _ in 0..actors {
            let (actor, mut inbox) = mpsc::unbounded_channel::<usize>();
            let done = done.clone();
            tokio::spawn(async move {
                let _ = inbox.recv().await;
                let _ = done.send(());
            });
            let _ = actor.send(1);
        }
    });
    let mut completed = 0;
    while completed < actors && touched.recv().await.is_some() {
        completed += 1;
    }
    (actors, completed)
}

struct Question {
    value: usize,
    reply: oneshot::Sender<usize>,
}

fn adder() -> mpsc::UnboundedSender<Question> {
    let (target, mut inbox) = mpsc::unbounded_channel::<Question>();
    tokio::spawn(async move {
        while let Some(Question { value, reply }) = inbox.recv().await {
            let _ = reply.send(value + 1);
        }
    });
    target
}

/// Every question has a deadline, as the others have.
pub async fn ask(scale: f64) -> (usize, usize) {
    let asks = scaled(100_000, scale, 1);
    let target = adder();
    let mut value = 0;
    for _ in 0..asks {
        let (reply, answer) = oneshot::channel();
        let _ = target.send(Question { value, reply });
        value = timeout(DEADLINE, answer)
            .await
            .expect("in time")
            .unwrap_or(0);
    }
    (asks, value)
}

pub async fn ask_concurrent(scale: f64) -> (usize, usize) {
    const IN_FLIGHT: usize = 1_000;
    let rounds = scaled(100, scale, 1);
    let target = adder();
    let mut answered = 0;
    for _ in 0..rounds {
        let mut answers = Vec::with_capacity(IN_FLIGHT);
        for value in 0..IN_FLIGHT {
            let (reply, answer) = oneshot::channel();
            let _ = target.send(Question { value, reply });
            answers.push(timeout(DEADLINE, answer));
        }
        for (value, answer) in answers.into_iter().enumerate() {
            if answer.await.expect("in time") == Ok(value + 1) {
                answered += 1;
            }
        }
    }
    (IN_FLIGHT * rounds, answered)
}
