package main

import "math"

const never = math.MaxInt64

// One call to lock, and what followed from it. A time that did not come is never.
type request struct {
	place              int
	asked, granted     int64
	token              int64 // 0: no grant is known
	turn               int64 // under the token's node; 0: there is one
	unlocked           int64 // when unlock returned 0
	lastClaim, nClaims int64 // the last time the holder believed that it held; lastClaim 0: none counts
	nExcused           int64 // claims that do not count
}

// One guarded write.
type write struct {
	begin, end int64 // end never: no answer, or one that leaves the outcome open
	token      int64
	version    int64 // that it made; 0: not known
}

type evidence struct {
	requests []*request // that were granted, or may have been
	writes   []write    // that were made, or may have been
	nRefused int
}

// A time in which a holder's node was deleted, or its session ended, from outside. For a session more the holder may not
// know it. A request that was made later is not concerned.
type outage struct {
	place                 int // -1: any
	begin, end, knownThen int64
}

const (
	stateHeld        = 1 // pdk_state
	stateSuspect     = 2
	zOK              = 0
	zInvalidState    = -9 // the request was not sent
	zNoNode          = -101
	laneOfMutex      = 0
	nameDeleted      = "a contender's node deleted"
	namePathDeleted  = "the lock's path deleted"
	nameSessionEnded = "session ended from outside"
)

func collect(all []process) *evidence {
	e := &evidence{}
	outages := outagesOf(all)
	for _, p := range all {
		if p.place >= 0 && p.isOfMutex() {
			e.addRequests(p, outages)
			e.addWrites(p)
		}
	}
	return e
}

// A process has requests of one recipe, and the models are those of a mutex.
func (p *process) isOfMutex() bool {
	for _, r := range p.records {
		if r.Event == asked {
			return r.node() == "" || r.node() == "mutex"
		}
	}
	return true
}

func outagesOf(all []process) (list []outage) {
	for _, p := range all {
		if p.place >= 0 {
			continue
		}
		names := map[int32]string{}
		begun := map[int64]int64{}
		var session int64
		for _, r := range p.records {
			switch r.Event {
			case setting:
				if r.node() == "session_ms" {
					session = r.Token * 1e6
				}
				names[int32(r.Token)] = kindName(names[int32(r.Token)], r.node())
			case faultBegins:
				begun[r.Token] = r.NS
			case faultEnds:
				if name := names[r.Kind]; name != "" && r.ValidMS == laneOfMutex {
					place := -1
					if name == nameSessionEnded {
						place = int(r.RC)
					}
					list = append(list, outage{place, begun[r.Token], r.NS, r.NS + session})
				}
			}
		}
	}
	return list
}

// The settings name the faults; other settings can have the same value.
func kindName(before, name string) string {
	if name == nameDeleted || name == namePathDeleted || name == nameSessionEnded {
		return name
	}
	return before
}

// The requests of a process, in their order. Two threads ask at the same time, and several grants can have one token:
// the number of the request tells. In the text of a test it may be left out.
type requests struct {
	list     []*request
	byNumber map[int32]*request
	byToken  map[int64]*request
}

func (s *requests) ask(r record, place int) {
	q := &request{place: place, asked: r.NS, granted: never, unlocked: never}
	s.list = append(s.list, q)
	s.byNumber[r.Kind] = q
}

// Without effect: it is no request.
func (s *requests) drop(r record) {
	for i, q := range s.list {
		if q == s.byNumber[r.Kind] && q.token == 0 {
			s.list = append(s.list[:i], s.list[i+1:]...)
			return
		}
	}
}

// The request that a question or an unlock is about; nil: it has no such grant.
func (s *requests) granted(r record) *request {
	if r.Kind == 0 {
		return s.byToken[r.Token]
	}
	if q := s.byNumber[r.Kind]; q != nil && q.token == r.Token {
		return q
	}
	return nil
}

func (e *evidence) addRequests(p process, outages []outage) {
	s := requests{byNumber: map[int32]*request{}, byToken: map[int64]*request{}}
	for _, r := range p.records {
		q := s.byNumber[r.Kind]
		switch r.Event {
		case asked:
			s.ask(r, p.place)
		case turn:
			q.turn = r.Token
		case granted:
			q.granted, q.token = r.NS, r.Token
			s.byToken[r.Token] = q
			if r.ValidMS > 0 {
				q.claim(r.NS, outages)
			}
		case failed:
			s.drop(r)
		case question:
			if g := s.granted(r); g != nil && (r.RC == stateHeld || r.RC == stateSuspect) {
				g.claim(r.NS, outages)
			}
		case unlocked:
			if g := s.granted(r); g != nil && r.RC == 0 {
				g.unlocked = r.NS
			}
		}
	}
	e.requests = append(e.requests, s.list...)
}

func (q *request) claim(ns int64, outages []outage) {
	for _, o := range outages {
		if (o.place < 0 || o.place == q.place) && q.asked <= o.end && o.begin <= ns && ns <= o.knownThen {
			q.nExcused++
			return
		}
	}
	q.nClaims++
	q.lastClaim = max(q.lastClaim, ns)
}

func (e *evidence) addWrites(p process) {
	open := map[int64]write{}
	for _, r := range p.records {
		switch r.Event {
		case writing:
			open[r.Session] = write{begin: r.NS, end: never, token: r.Token}
		case wrote:
			w := open[r.Session]
			switch r.RC {
			case zOK:
				w.end, w.version = r.NS, r.ValidMS
				e.writes = append(e.writes, w)
			case zNoNode, zInvalidState:
				e.nRefused++
			default:
				e.writes = append(e.writes, w)
			}
			delete(open, r.Session)
		}
	}
	for _, w := range open {
		e.writes = append(e.writes, w)
	}
}
