package main

import "math"

const never = math.MaxInt64

// One call to lock, and what followed from it. A time that did not come is never.
type request struct {
	place              int
	asked, granted     int64
	token              int64 // 0: no grant is known
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
	nameDeleted      = "a contender's node deleted"
	namePathDeleted  = "the lock's path deleted"
	nameSessionEnded = "session ended from outside"
)

func collect(all []process) *evidence {
	e := &evidence{}
	outages := outagesOf(all)
	for _, p := range all {
		if p.place >= 0 {
			e.addRequests(p, outages)
			e.addWrites(p)
		}
	}
	return e
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
				if name := names[r.Kind]; name != "" {
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

func (e *evidence) addRequests(p process, outages []outage) {
	var q *request
	byToken := map[int64]*request{}
	for _, r := range p.records {
		switch r.Event {
		case asked:
			q = &request{place: p.place, asked: r.NS, granted: never, unlocked: never}
			e.requests = append(e.requests, q)
		case granted:
			q.granted, q.token = r.NS, r.Token
			byToken[r.Token] = q
			if r.ValidMS > 0 {
				q.claim(r.NS, outages)
			}
		case failed: // without effect: the last one is no request
			if n := len(e.requests); n > 0 && e.requests[n-1] == q && q.token == 0 {
				e.requests = e.requests[:n-1]
			}
		case question:
			if g := byToken[r.Token]; g != nil && (r.RC == stateHeld || r.RC == stateSuspect) {
				g.claim(r.NS, outages)
			}
		case unlocked:
			if g := byToken[r.Token]; g != nil && r.RC == 0 {
				g.unlocked = r.NS
			}
		}
	}
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
