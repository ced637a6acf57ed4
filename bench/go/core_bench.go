// The core suite in goroutines and channels, message for message the same work. A mailbox is a channel of the
// capacity that mailboxes of Troupe have.
package main

import "time"

const capacity = 1000

type counterMessage struct {
	by     int
	report chan<- int
}

func counter(inbox <-chan counterMessage) {
	total := 0
	for message := range inbox {
		if message.report != nil {
			message.report <- total
			return
		}
		total += message.by
	}
}

func counting(scale float64) (int, int) {
	messages := scaled(1_000_000, scale, 1)
	inbox := make(chan counterMessage, capacity)
	done := make(chan int, 1)
	go counter(inbox)
	go func() {
		for sent := 0; sent < messages; sent++ {
			inbox <- counterMessage{by: 1}
		}
		inbox <- counterMessage{report: done}
	}()
	return messages, <-done
}

type pingMessage struct {
	from chan<- struct{}
	end  chan<- int
}

func pingpong(scale float64) (int, int) {
	exchanges := scaled(1_000_000, scale, 1)
	pings := make(chan pingMessage, capacity)
	pongs := make(chan struct{}, capacity)
	done := make(chan int, 1)
	go func() {
		received := 0
		for message := range pings {
			if message.end != nil {
				message.end <- received
				return
			}
			received++
			message.from <- struct{}{}
		}
	}()
	go func() {
		for left := exchanges; left > 0; left-- {
			pings <- pingMessage{from: pongs}
			<-pongs
		}
		pings <- pingMessage{end: done}
	}()
	return 2 * exchanges, 2 * <-done
}

type tokenMessage struct {
	left int
	end  chan<- int
}

func ring(scale float64) (int, int) {
	const size = 100
	hops := scaled(1_000_000, scale, size)
	members := make([]chan tokenMessage, size)
	for index := range members {
		members[index] = make(chan tokenMessage, capacity)
	}
	done := make(chan struct{}, 1)
	for index, inbox := range members {
		go ringMember(inbox, members[(index+1)%size], done)
	}
	members[0] <- tokenMessage{left: hops}
	<-done
	counts := make(chan int, size)
	counted := 0
	for _, member := range members {
		member <- tokenMessage{end: counts}
	}
	for range members {
		counted += <-counts
	}
	return hops, counted
}

func ringMember(inbox <-chan tokenMessage, next chan<- tokenMessage, done chan<- struct{}) {
	hops := 0
	for message := range inbox {
		if message.end != nil {
			message.end <- hops
			return
		}
		hops++
		if message.left > 1 {
			next <- tokenMessage{left: message.left - 1}
		} else {
			done <- struct{}{}
		}
	}
}

func forkjoin(scale float64) (int, int) {
	each := min(100_000, scaled(100_000, scale, 1))
	rounds := scaled(1, scale, 1)
	attempted, completed := 0, 0
	for round := 0; round < rounds; round++ {
		attempted += 60 * each
		completed += forkOnce(60, each)
	}
	return attempted, completed
}

func forkOnce(receivers, each int) int {
	targets := make([]chan int, receivers)
	counts := make(chan int, receivers)
	for index := range targets {
		inbox := make(chan int, capacity)
		targets[index] = inbox
		go func() {
			got := 0
			for got < each {
				got += <-inbox
			}
			counts <- got
		}()
	}
	go func() {
		for sent := 0; sent < each; sent++ {
			for _, target := range targets {
				target <- 1
			}
		}
	}()
	total := 0
	for range targets {
		total += <-counts
	}
	return total
}

func create(scale float64) (int, int) {
	actors := scaled(100_000, scale, 1)
	touched := make(chan struct{}, capacity)
	go func() {
		for count := 0; count < actors; count++ {
			inbox := make(chan int, 1)
			go func() {
				<-inbox
				touched <- struct{}{}
			}()
			inbox <- 1
		}
	}()
	completed := 0
	for completed < actors {
		<-touched
		completed++
	}
	return actors, completed
}

type question struct {
	value int
	reply chan<- int
}

func adder() chan<- question {
	inbox := make(chan question, capacity)
	go func() {
		for question := range inbox {
			question.reply <- question.value + 1
		}
	}()
	return inbox
}

// Every question has a channel and a timer of its own, as the others have for their deadline.
func answer(reply <-chan int, deadline *time.Timer) int {
	select {
	case value := <-reply:
		deadline.Stop()
		return value
	case <-deadline.C:
		panic("timeout")
	}
}

func ask(scale float64) (int, int) {
	asks := scaled(100_000, scale, 1)
	target := adder()
	defer close(target)
	value := 0
	for count := 0; count < asks; count++ {
		reply := make(chan int, 1)
		target <- question{value, reply}
		value = answer(reply, time.NewTimer(5*time.Second))
	}
	return asks, value
}

func askConcurrent(scale float64) (int, int) {
	const inFlight = 1000
	rounds := scaled(100, scale, 1)
	target := adder()
	defer close(target)
	answered := 0
	replies := make([]chan int, inFlight)
	deadlines := make([]*time.Timer, inFlight)
	for round := 0; round < rounds; round++ {
		for index := range replies {
			replies[index] = make(chan int, 1)
			deadlines[index] = time.NewTimer(5 * time.Second)
			target <- question{index, replies[index]}
		}
		for index, reply := range replies {
			if answer(reply, deadlines[index]) == index+1 {
				answered++
			}
		}
	}
	return inFlight * rounds, answered
}

func timers(scale float64) (int, int) {
	const inFlight = 1000
	rounds := scaled(1000, scale, 1)
	armed := make([]*time.Timer, inFlight)
	cancelled := 0
	for round := 0; round < rounds; round++ {
		for index := range armed {
			armed[index] = time.NewTimer(time.Minute)
		}
		for _, timer := range armed {
			if timer.Stop() {
				cancelled++
			}
		}
	}
	return rounds * inFlight, cancelled
}
