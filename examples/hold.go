// SPDX-License-Identifier: Apache-2.0

// hold.go: work on each PATH under its lock, all locks through one `paddock hold --json`. See doc/hold-json.md.
//
//	go run hold.go PATH...
//
// The locks are requested at once. Each has a goroutine, whose context ends when the lock is in doubt. PADDOCK_HOSTS
// says where. Exit status: 0 all work was done, 1 a lock was not granted within 5 seconds, or was lost.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
)

// request is a line to the process.
type request struct {
	ID   int     `json:"id"`
	Do   string  `json:"do"`
	Path string  `json:"path,omitempty"`
	Wait float64 `json:"wait,omitempty"`
}

// event is a line of the process. The members that it does not have are zero.
type event struct {
	ID                    int
	Event, Error, Message string
	Token                 int64
}

// work is done under a lock. It returns soon when ctx ends: the lock may be in other hands then. Data that check tokens
// get the token with each write.
func work(ctx context.Context, path string, token int64) {
	if ctx.Err() == nil {
		fmt.Printf("%s: working under token %d\n", path, token)
	}
}

// holder is one `paddock hold --json`. Requests may come from any goroutine.
type holder struct {
	mutex    sync.Mutex
	requests *json.Encoder
	events   *json.Decoder
}

// say ignores a failure: it means that the process has ended, and then its events end, too.
func (h *holder) say(r request) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	_ = h.requests.Encode(r)
}

// run works on each path, and tells whether all work was done.
func (h *holder) run(paths []string) bool {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	cancels, done := map[int]context.CancelFunc{}, true // of the locks that are, or were, held
	for id, path := range paths {
		go h.say(request{id, "lock", path, 5})
	}
	// Every lock ends by one of released, lost and failed.
	for left := len(paths); left > 0; {
		e := event{ID: -1}
		if h.events.Decode(&e) != nil {
			return false
		}
		switch e.Event {
		case "held":
			if cancels[e.ID] == nil { // else it is held in good order again, and its work has ended
				under, cancel := context.WithCancel(ctx)
				cancels[e.ID] = cancel
				go func() {
					work(under, paths[e.ID], e.Token)
					h.say(request{ID: e.ID, Do: "unlock"})
				}()
			}
		case "suspect":
			cancels[e.ID]()
			done = false
		case "released":
			fmt.Printf("%s: released\n", paths[e.ID])
			left--
		case "lost", "failed":
			fmt.Printf("%s: %s\n", paths[e.ID], e.Error)
			if e.Event == "lost" {
				cancels[e.ID]()
			}
			done = false
			left--
		case "error":
			fmt.Fprintln(os.Stderr, "hold.go:", e.Message)
			if e.ID < 0 { // a request was not understood: it has no end
				return false
			}
		}
	}
	return done
}

func main() {
	paddock := os.Getenv("PADDOCK")
	if paddock == "" {
		paddock = "paddock"
	}
	process := exec.Command(paddock, "hold", "--json", "--label", "hold.go")
	process.Stderr = os.Stderr
	input, err := process.StdinPipe()
	output, err2 := process.StdoutPipe()
	if err != nil || err2 != nil || process.Start() != nil {
		fmt.Fprintln(os.Stderr, "hold.go: cannot start", paddock)
		os.Exit(1)
	}
	done := (&holder{requests: json.NewEncoder(input), events: json.NewDecoder(output)}).run(os.Args[1:])
	input.Close() // the end of its input ends the process, which releases what it holds
	if process.Wait() != nil || !done {
		os.Exit(1)
	}
}
